import type { Instant } from '../../lib/clock.ts';
import { type Datapoint, orderTime } from '../datapoints/datapoint.ts';
import type { DeviceId, SensorId } from '../ids.ts';
import { evaluationLimits } from './evaluation-limits.ts';

/** Counts datapoints, in the order of their times, that rules passed over when they came. */
export interface LateCount {
  add(deviceId: DeviceId, sensorId: SensorId, datapoint: Datapoint): void;
  count(): number;
}

/** So many datapoints of one sensor that were received at once. */
interface Received {
  readonly at: Instant;
  count: number;
}

export function createLateCount(maxAgeMs: number): LateCount {
  /** By sensor, those that nothing newer was received before, in the order of their receipt. */
  const inTime = new Map<string, Received[]>();
  let count = 0;
  return {
    add(deviceId, sensorId, datapoint) {
      const { receivedAt: at } = datapoint;
      const key = `${deviceId} ${sensorId}`;
      const received = inTime.get(key) ?? [];
      inTime.set(key, received);
      while ((received.at(-1)?.at ?? 0) > at) count += received.pop()?.count ?? 0;
      if (at - orderTime(datapoint) > maxAgeMs) {
        count += 1;
        return;
      }
      const last = received.at(-1);
      if (last?.at === at) last.count += 1;
      else received.push({ at, count: 1 });
      // Of a backlog that came later than so many newer ones, the first are not counted.
      if (received.length > 2 * evaluationLimits.lateCountMax)
        received.splice(0, evaluationLimits.lateCountMax);
    },
    count: () => count,
  };
}
