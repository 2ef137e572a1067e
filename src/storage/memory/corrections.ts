import type { Correction, CorrectionHead } from '../../domain/datapoints/corrections/correction.ts';
import type { CorrectionStore } from '../../domain/datapoints/corrections/correction-store.ts';
import type { SensorRef } from '../../domain/datapoints/datapoint.ts';
import type { DeviceId, SensorId, Username } from '../../domain/ids.ts';
import { limits } from '../../domain/limits.ts';
import type { Instant } from '../../lib/clock.ts';
import { correctionBytes } from '../sql/correction-row.ts';
import type { MemoryState } from './memory-state.ts';

/** Corrections in memory, with what their owner must call. */
export interface MemoryCorrections extends CorrectionStore {
  /** Drops those of a sensor that are about earlier datapoints alone. */
  removeBefore(sensor: SensorRef, time: Instant): void;
  /** Drops those of a removed sensor, or of all sensors of a removed device. */
  forget(deviceId: DeviceId, sensorId?: SensorId): void;
}

export function createCorrectionStore(
  state: Pick<MemoryState, 'devices'>,
  hasSensor: (sensor: SensorRef) => boolean,
): MemoryCorrections {
  let corrections: readonly Correction[] = [];

  const isOf =
    ({ deviceId, sensorId }: SensorRef) =>
    (one: SensorRef): boolean =>
      one.deviceId === deviceId && one.sensorId === sensorId;

  function ownedBy(owner: Username | undefined): readonly Correction[] {
    return corrections.filter(({ deviceId }) => state.devices.get(deviceId)?.owner === owner);
  }

  return {
    reaches: async () => corrections,
    heads: async (sensor) => corrections.filter(isOf(sensor)).map(headOf),
    list: async (sensor) => corrections.filter(isOf(sensor)),
    async insert(correction) {
      if (!hasSensor(correction)) return 'missing';
      const ofSensor = corrections.filter(isOf(correction));
      const ofOwner = ownedBy(state.devices.get(correction.deviceId)?.owner);
      const isFull =
        ofSensor.length >= limits.correctionsPerSensorMax ||
        ofOwner.length >= limits.correctionsPerOwnerMax ||
        sum([...ofSensor, correction]) > limits.correctionBytesPerSensorMax ||
        sum([...ofOwner, correction]) > limits.correctionBytesPerOwnerMax;
      if (isFull) return 'too_many';
      corrections = [...corrections, correction];
      return 'inserted';
    },
    async remove(sensor, id) {
      const isIt = isOf(sensor);
      const left = corrections.filter((one) => one.id !== id || !isIt(one));
      if (left.length === corrections.length) return 'missing';
      corrections = left;
      return 'removed';
    },
    removeBefore(sensor, time) {
      const isIt = isOf(sensor);
      corrections = corrections.filter((one) => !isIt(one) || one.to >= time);
    },
    forget(deviceId, sensorId) {
      corrections = corrections.filter(
        (one) => one.deviceId !== deviceId || (sensorId !== undefined && one.sensorId !== sensorId),
      );
    },
  };
}

const headOf = ({ items: _items, value: _value, ...head }: Correction): CorrectionHead => head;

const sum = (corrections: readonly Correction[]): number =>
  corrections.reduce((bytes, one) => bytes + correctionBytes(one), 0);
