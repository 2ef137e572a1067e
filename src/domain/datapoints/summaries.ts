import { othersRan } from '../../lib/event-loop.ts';
import type { Access } from '../access/access.ts';
import type { Actor } from '../actor.ts';
import { sensorOf } from '../devices/device.ts';
import type { DeviceStore } from '../devices/device-store.ts';
import { deviceResource, noSensor, requireDevice } from '../devices/devices.ts';
import type { Sensor } from '../devices/sensor.ts';
import { limits } from '../limits.ts';
import { type Aggregation, type AggregationPlan, aggregate } from './aggregation.ts';
import type { SensorRef } from './datapoint.ts';
import { calibratedColumns, type DatapointColumns, timeIn } from './datapoint-columns.ts';
import type { DatapointStore, Page } from './datapoint-store.ts';
import { type HistoryQuery, pageOf } from './history.ts';
import { type Thinned, thin } from './thinning.ts';

/** What becomes of the datapoints of one sensor, for those who may view its data. */
export interface Summaries {
  /** Puts the datapoints of the page, which is taken oldest first, into buckets. */
  aggregate(
    actor: Actor,
    sensor: SensorRef,
    query: HistoryQuery,
    plan: AggregationPlan,
  ): Promise<Aggregation>;
  /** Thins the page to at most `pointsMax` datapoints; `total` are in the range. */
  thin(
    actor: Actor,
    sensor: SensorRef,
    query: HistoryQuery,
    pointsMax: number,
  ): Promise<Thinned & { readonly total: number }>;
}

export function createSummaries(options: {
  readonly devices: DeviceStore;
  readonly datapoints: DatapointStore;
  readonly access: Access;
}): Summaries {
  const { devices, datapoints, access } = options;

  async function sensorFor(actor: Actor, ref: SensorRef): Promise<Sensor> {
    const device = await requireDevice(devices, ref.deviceId);
    await access.require(actor, 'devices-data:view', deviceResource(device));
    const sensor = sensorOf(device, ref.sensorId);
    if (sensor === undefined) throw noSensor(ref.deviceId, ref.sensorId);
    return sensor;
  }

  return {
    async aggregate(actor, ref, query, plan) {
      const sensor = await sensorFor(actor, ref);
      const oldestFirst = { ...query, order: 'asc' } as const;
      const total = query.isCountedFromNewest ? await datapoints.count(ref, query) : 0;
      const page = pageOf(oldestFirst, total);
      return aggregate(scan({ datapoints, sensor, ref, page, query }), plan);
    },
    async thin(actor, ref, query, pointsMax) {
      const sensor = await sensorFor(actor, ref);
      const total = await datapoints.count(ref, query);
      const page = pageOf(query, total);
      const count = Math.min(page.limit, Math.max(0, total - page.skip));
      const steps = scan({ datapoints, sensor, ref, page, query });
      return { ...(await thin(steps, { count, pointsMax })), total };
    },
  };
}

/**
 * Walks a page column by column, as readSteps walks it datapoint by datapoint. Others have their
 * turn after each step: a summary of years is long work.
 */
async function* scan(options: {
  readonly datapoints: DatapointStore;
  readonly sensor: Sensor;
  readonly ref: SensorRef;
  readonly page: Page;
  readonly query: HistoryQuery;
}): AsyncGenerator<DatapointColumns, undefined> {
  const { datapoints, sensor, ref, query } = options;
  const calibration = query.isCalibrated ? sensor.calibration : undefined;
  let { page } = options;
  let remaining = page.limit;
  while (remaining > 0) {
    const limit = Math.min(remaining, limits.datapointsPerScan);
    const step = await datapoints.scan(ref, { ...page, limit });
    if (step.count > 0) yield calibratedColumns(step, calibration);
    if (step.count < limit) return;
    remaining -= step.count;
    page = following(page, step);
    await othersRan();
  }
}

/** The rest of the page: from the order time on where the step ended, without what was seen there. */
function following(page: Page, step: DatapointColumns): Page {
  const end = timeIn(step, step.count - 1);
  let seenAtEnd = 1;
  while (seenAtEnd < step.count && timeIn(step, step.count - 1 - seenAtEnd) === end) seenAtEnd += 1;
  // A whole step at one order time: some of those skipped may share it, so only the skip grows.
  if (seenAtEnd === step.count) return { ...page, skip: page.skip + step.count };
  return page.order === 'asc'
    ? { ...page, from: end, skip: seenAtEnd }
    : { ...page, to: end, skip: seenAtEnd };
}
