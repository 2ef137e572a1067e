import type { Instant } from '../../lib/clock.ts';
import type { Log } from '../../lib/log.ts';
import type { SensorRef } from '../datapoints/datapoint.ts';
import { readDatapoints } from '../datapoints/datapoint-store.ts';
import type { StoredPush } from '../datapoints/feed.ts';
import type { DeviceId, SensorId } from '../ids.ts';
import { limits } from '../limits.ts';
import type { Notifier } from './notifier.ts';
import type { RuleBook } from './rule-book.ts';
import { lastDatapoints, type ValueReads } from './sensor-values.ts';

/** Devices whose last values are evaluated together: more than are remembered after such a read. */
const devicesPerStep = 20;

/**
 * Evaluates the last datapoints of all watched sensors again: a push stored right before a crash
 * may not have been evaluated, its sender got no answer, and its repetition is nothing new.
 * Datapoints that fired already are known by the time of receipt, and do not fire again.
 */
export async function catchUp(parts: {
  readonly book: RuleBook;
  readonly notifier: Notifier;
  readonly datapoints: ValueReads;
  readonly log: Log;
}): Promise<void> {
  const { book, notifier, datapoints, log } = parts;
  const watched = await watchedSensors(book);
  // The values themselves are left where they are: all of them may be more than fits.
  const lasts: (SensorRef & { readonly receivedAt: Instant })[] = [];
  const sensors = [...watched];
  for (let from = 0; from < sensors.length; from += devicesPerStep) {
    const step = new Map(sensors.slice(from, from + devicesPerStep));
    for await (const { deviceId, sensorId, last } of lastDatapoints(datapoints, step)) {
      lasts.push({ deviceId, sensorId, receivedAt: last.receivedAt });
    }
  }
  const newest = lasts.reduce((max, { receivedAt }) => Math.max(max, receivedAt), 0);
  const since = newest - limits.catchUpMs;
  const before: StoredPush[] = [];
  const pushes: StoredPush[] = [];
  for (const { deviceId, sensorId, receivedAt } of lasts) {
    if (receivedAt < since) continue;
    const page = { order: 'desc', skip: 0, limit: limits.catchUpDatapointsMax } as const;
    try {
      const read = await readDatapoints(datapoints, { deviceId, sensorId }, page);
      const recent = read.filter(({ receivedAt }) => receivedAt >= since).toReversed();
      for (const datapoints of Map.groupBy(recent, ({ receivedAt }) => receivedAt).values()) {
        pushes.push({ deviceId, sensorId, datapoints });
      }
      const earlier = read.filter(({ receivedAt }) => receivedAt < since);
      before.push({ deviceId, sensorId, datapoints: earlier });
    } catch (error) {
      // Datapoints of one sensor that cannot be read must not keep the others from being evaluated.
      log.error({ err: error, deviceId, sensorId }, 'datapoints cannot be looked at again');
    }
  }
  const receivedAt = ({ datapoints: [one] }: StoredPush): number => one?.receivedAt ?? 0;
  pushes.sort((a, b) => receivedAt(a) - receivedAt(b));
  if (pushes.length > 0) await notifier.catchUp({ before, pushes });
}

async function watchedSensors(
  book: RuleBook,
): Promise<ReadonlyMap<DeviceId, ReadonlySet<SensorId>>> {
  const watched = new Map<DeviceId, Set<SensorId>>();
  for (const rule of book.index.all()) {
    const { condition, status } = rule.notification;
    if (status !== 'active') continue;
    const watch = (deviceId: DeviceId): void => {
      const sensors = watched.get(deviceId) ?? new Set();
      watched.set(deviceId, sensors);
      for (const sensorId of [...rule.triggers, ...rule.named]) sensors.add(sensorId as SensorId);
    };
    condition.devices.forEach(watch);
    if (condition.devices.length > 0) continue;
    for await (const some of book.devicesOf(rule)) for (const { id } of some) watch(id);
  }
  return watched;
}
