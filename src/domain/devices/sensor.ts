import type { JsonValue } from '../../lib/json.ts';
import type { SensorId } from '../ids.ts';
import type { Calibration } from './calibration.ts';

/** Kinds of values: readings, the count of a meter, or what came since the value before. */
export const measuresWords = ['gauge', 'counter', 'amount'] as const;

export type Measures = (typeof measuresWords)[number];

/** A measured quantity of a device: exactly what its owner said about it. */
export interface Sensor {
  readonly id: SensorId;
  readonly name?: string;
  /** Kind of physical sensor used. */
  readonly kind?: string;
  /** The key the client last used for `kind`; the answer uses the same one [contract 3]. */
  readonly kindSpelling?: 'sensor_kind';
  readonly quantityKind?: string;
  readonly unit?: string;
  /** Absent: unknown; totals are those of a gauge, none [contract 15]. */
  readonly measures?: Measures;
  readonly calibration?: Calibration;
  readonly meta?: JsonValue;
}

/** A field set to undefined is removed. */
export type SensorChanges = {
  readonly [Field in Exclude<keyof Sensor, 'id'>]?: Sensor[Field] | undefined;
};
