import type { Instant } from '../../lib/clock.ts';
import type { JsonValue } from '../../lib/json.ts';
import type { Pace } from '../../lib/scheduling/fair-slices.ts';
import { mapSteps } from '../../lib/steps.ts';
import type { Access } from '../access/access.ts';
import type { Actor } from '../actor.ts';
import type { LongWork } from '../budgets/long-work.ts';
import { calibrate } from '../devices/calibration.ts';
import { type DeviceStore, type Sensor, sensorOf } from '../devices/device.ts';
import { deviceResource, noSensor, requireDevice } from '../devices/devices.ts';
import { readColumnSteps } from './column-steps.ts';
import type { Datapoint, SensorRef } from './datapoint.ts';
import { type DatapointColumns, datapointsOf } from './datapoint-columns.ts';
import type { DatapointStore, Page, Range } from './datapoint-store.ts';

export interface HistoryQuery extends Page {
  /** The page is one of the newest so many datapoints, in the order it is answered in. */
  readonly lastN?: number;
  readonly isCalibrated: boolean;
  /** Whether pushed datapoints are read instead of those that corrections show. */
  readonly isRaw?: boolean;
}

export interface History {
  /** All datapoints of the sensor in the range, whatever the page. */
  readonly total: number;
  /** From when datapoints are kept; undefined: retention took none of the range. */
  readonly standsFrom: Instant | undefined;
  /** The page, fetched in steps of bounded size as the reader asks for more. */
  readonly steps: AsyncIterable<readonly Datapoint[]>;
  /** The same as columns, for readers without need of objects; one of the two is read, once. */
  readonly columns: AsyncIterable<DatapointColumns>;
}

/** Stored datapoints of one sensor, for those who may view its data. */
export type ReadHistory = (
  actor: Actor,
  sensor: SensorRef,
  query: HistoryQuery,
) => Promise<History>;

export function createHistory(options: {
  readonly devices: DeviceStore;
  readonly datapoints: DatapointStore;
  readonly pushedDatapoints: DatapointStore;
  readonly access: Access;
  readonly longWork: Pick<LongWork, 'paceOf'>;
}): ReadHistory {
  const { longWork } = options;
  return async (actor, ref, query) => {
    const sensor = await viewableSensor(options, actor, ref);
    const datapoints = storeFor(options, query);
    const total = await datapoints.count(ref, query);
    const standsFrom = await datapoints.standsFrom([ref], query);
    const page = pageOf(query, total);
    const pace = longWork.paceOf(actor);
    const calibration = query.isCalibrated ? sensor.calibration : undefined;
    const columns = readColumnSteps({ datapoints, ref, page, calibration, pace });
    return { total, standsFrom, steps: mapSteps(columns, datapointsOf), columns };
  };
}

/** The sensor, for those who may view its data. Throws DomainError. */
export async function viewableSensor(
  { devices, access }: { readonly devices: DeviceStore; readonly access: Access },
  actor: Actor,
  { deviceId, sensorId }: SensorRef,
): Promise<Sensor> {
  const device = await requireDevice(devices, deviceId);
  await access.require(actor, 'devices-data:view', deviceResource(device));
  const sensor = sensorOf(device, sensorId);
  if (sensor === undefined) throw noSensor(deviceId, sensorId);
  return sensor;
}

/** Store that a read is answered from: datapoints as shown, or as pushed. */
export const storeFor = (
  stores: { readonly datapoints: DatapointStore; readonly pushedDatapoints: DatapointStore },
  { isRaw }: Pick<HistoryQuery, 'isRaw'>,
): DatapointStore => (isRaw === true ? stores.pushedDatapoints : stores.datapoints);

/** Sensors whose retention is asked for at once. */
const sensorsPerLook = 128;

/** From when the datapoints of many sensors are kept, found in slices. */
export async function standsFromOf(
  store: Pick<DatapointStore, 'standsFrom'>,
  sensors: readonly SensorRef[],
  range: Range,
  pace: Pace,
): Promise<Instant | undefined> {
  let latest: Instant | undefined;
  for (let at = 0; at < sensors.length; at += sensorsPerLook) {
    const stands = await store.standsFrom(sensors.slice(at, at + sensorsPerLook), range);
    if (stands !== undefined) latest = Math.max(latest ?? stands, stands);
    if (pace.isOver()) await pace.rest();
  }
  return latest;
}

/** The page that is asked for, of `total` datapoints in its range. */
export function pageOf(query: HistoryQuery, total: number): Page {
  if (query.lastN === undefined) return query;
  const newest = Math.min(query.lastN, total);
  const limit = Math.min(query.limit, Math.max(0, newest - query.skip));
  return {
    ...query,
    limit,
    skip: query.order === 'desc' ? query.skip : total - newest + query.skip,
  };
}

/** The datapoint as the sensor's calibration shows it; the stored one stays as it is. */
export function calibratedDatapoint(
  sensor: Pick<Sensor, 'calibration'>,
  datapoint: Datapoint,
): Datapoint {
  if (sensor.calibration === undefined) return datapoint;
  const value: JsonValue = calibrate(sensor.calibration, datapoint.value);
  return value === datapoint.value ? datapoint : { ...datapoint, value };
}
