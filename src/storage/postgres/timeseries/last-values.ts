import type { Datapoint, SensorRef } from '../../../domain/datapoints/datapoint.ts';
import type { BriefLastValues, LastValues } from '../../../domain/datapoints/datapoint-store.ts';
import type { DeviceId, SensorId } from '../../../domain/ids.ts';
import type { Instant } from '../../../lib/clock.ts';
import { storedJson } from '../../../lib/long-json.ts';
import type { DamagedRows } from '../../faults.ts';
import { bucketOf } from '../../sql/device-row.ts';
import { createBatchedQueries } from '../batched-queries.ts';
import { isHere } from '../parts.ts';
import type { Reader } from '../reader.ts';

/** So many devices in one statement, of as many reads, and statements under way at once. */
const batchedQueryLimits = (hasParts: boolean) => ({ keysMax: hasParts ? 1 : 16, underWayMax: 4 });

/** A last value whose JSON text has more bytes is large. */
const smallBytesMax = 512;
const columns = 'device_id, sensor_id, last_at, last_received';
const ofDevices =
  'device_id = any($1::text[]) and last_value is not null order by device_id, series';
const selectWhole = `select ${columns}, last_value`;
const selectBrief = `
  select ${columns},
    case when octet_length(last_value) <= ${smallBytesMax} then last_value end as last_value`;
const selectOne = `
  select ${columns}, last_value from sensors
  where bucket = $3 and device_id = $1 and sensor_id = $2 and last_value is not null`;
const selectReceived =
  'select max(last_received) as newest from sensors where last_received <= $1::float8';

interface Row {
  readonly device_id: DeviceId;
  readonly sensor_id: SensorId;
  readonly last_at: number | null;
  readonly last_received: number;
  readonly last_value: string | null;
}

/** Last values, which are in the rows of their sensors. */
export function createLastValues(reader: Reader, damaged: DamagedRows, hasParts: boolean) {
  function read<Last>(row: Row, lastOf: (row: Row) => Last): Last | undefined {
    return damaged.read('sensors', `${row.device_id} ${row.sensor_id}`, () => lastOf(row));
  }

  function byDevice<Last>(
    rows: readonly Row[],
    lastOf: (row: Row) => Last,
  ): ReadonlyMap<DeviceId, ReadonlyMap<SensorId, Last>> {
    const values = new Map<DeviceId, Map<SensorId, Last>>();
    for (const row of rows) {
      const last = read(row, lastOf);
      if (last === undefined) continue;
      const ofDevice = values.get(row.device_id) ?? new Map<SensorId, Last>();
      values.set(row.device_id, ofDevice.set(row.sensor_id, last));
    }
    return values;
  }

  async function rowsOf(select: string, devices: readonly DeviceId[]): Promise<readonly Row[]> {
    const sql = `${select} from sensors where ${isHere(hasParts, 2)} ${ofDevices}`;
    return reader.all<Row>(sql, devices, ...(hasParts ? [devices.map(bucketOf)] : []));
  }

  const readBrief = async (devices: readonly DeviceId[]) =>
    byDevice(await rowsOf(selectBrief, devices), (row) =>
      row.last_value === null ? 'large' : datapointOf(row),
    );
  const readBriefOf = createBatchedQueries(readBrief, batchedQueryLimits(hasParts));

  return {
    whole: async (devices: readonly DeviceId[]): Promise<LastValues> =>
      byDevice(await rowsOf(selectWhole, devices), datapointOf),
    async brief(devices: readonly DeviceId[]): Promise<BriefLastValues> {
      const [device] = devices;
      if (device === undefined || devices.length > 1) return readBrief(devices);
      const found = await readBriefOf(device);
      return new Map(found && [[device, found]]);
    },
    async newestReceived(atMost: Instant): Promise<Instant | undefined> {
      const row = await reader.first<{ newest: Instant | null }>(selectReceived, atMost);
      return row?.newest ?? undefined;
    },
    async one({ deviceId, sensorId }: SensorRef): Promise<Datapoint | undefined> {
      const row = await reader.first<Row>(selectOne, deviceId, sensorId, bucketOf(deviceId));
      return row && read(row, datapointOf);
    },
  };
}

function datapointOf({ last_at, last_received, last_value }: Row): Datapoint {
  const value = storedJson(last_value ?? 'null');
  const receivedAt = last_received;
  return last_at === null ? { value, receivedAt } : { value, timestamp: last_at, receivedAt };
}
