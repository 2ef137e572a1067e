import type { Pace } from '../../../lib/scheduling/fair-slices.ts';
import type { CorrectionId } from '../../ids.ts';
import type { SensorRef } from '../datapoint.ts';
import type { Correction, CorrectionHead, Reach } from './correction.ts';

/** A sensor that has corrections, and what they reach. */
export interface CorrectedSensor extends SensorRef {
  readonly reach: Reach;
}

/** Where corrections are kept. They go with their sensor. */
export interface CorrectionStore {
  /** Lists the reaches of all corrections, an entry for each. */
  reaches(): Promise<readonly CorrectedSensor[]>;
  /** Lists corrections of a sensor in the order in which they were made, without their values. */
  heads(sensor: SensorRef): Promise<readonly CorrectionHead[]>;
  /**
   * The same with their values, which are read in slices; without a pace this process does nothing
   * else. One whose values cannot be understood is left out.
   */
  list(sensor: SensorRef, pace?: Pace): Promise<readonly Correction[]>;
  /**
   * Inserts one row in one commit. missing: there is no such sensor. too_many: the sensor, or all
   * that its owner has, holds as many corrections, or as many bytes of them, as there may be.
   */
  insert(correction: Correction): Promise<'inserted' | 'missing' | 'too_many'>;
  remove(sensor: SensorRef, id: CorrectionId): Promise<'removed' | 'missing'>;
}
