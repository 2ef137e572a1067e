import type { DatabaseSync } from 'node:sqlite';
import type { Datapoint, SensorRef } from '../../domain/datapoints/datapoint.ts';
import type { LastValues } from '../../domain/datapoints/datapoint-store.ts';
import type { DeviceId, SensorId } from '../../domain/ids.ts';
import type { Instant } from '../../lib/clock.ts';
import type { DamagedRows } from '../faults.ts';
import { createSelection } from './connection.ts';
import type { DatapointLimits } from './timeseries/datapoint-limits.ts';
import type { Memtable } from './timeseries/memtable.ts';
import { receivedAt } from './timeseries/memtable-columns.ts';
import { briefLastOf, lastOf, lastValueOf, type SeriesTable } from './timeseries/series.ts';

const findLastValue = 'select timestamp, received_at, value from last_values where series = ?';

/** Last values: those in memory, and those in their rows. */
export function createLastValues(options: {
  readonly reader: DatabaseSync;
  readonly table: SeriesTable;
  readonly memtable: Pick<Memtable, 'newestPacked'>;
  readonly limits: DatapointLimits;
  readonly damaged: DamagedRows;
}) {
  const { reader, table, memtable, limits, damaged } = options;
  const lastValueOfSeries = reader.prepare(findLastValue);
  const newestInRows = createSelection<{ readonly newest: Instant | null }>(
    reader,
    'select max(received_at) as newest from last_values where received_at <= ?',
  );
  lastValueOfSeries.setReturnArrays(true);

  function brief(devices: readonly DeviceId[]): Brief {
    const values: Brief = new Map();
    const unknown = devices.filter((deviceId) => !table.isWhole(deviceId));
    // A device that is asked for alone is asked for again; a long list is read and forgotten.
    if (unknown.length <= limits.wholeDevicesPerRead) {
      table.makeWhole(unknown);
    } else {
      for (const [deviceId, sensorId, last] of table.lasts(unknown)) {
        if (last !== undefined) put(values, deviceId, sensorId, last);
      }
    }
    // Rows are as old as the last flushing; memory is what was acknowledged.
    for (const deviceId of devices) {
      for (const series of table.residents(deviceId)) {
        const last = briefLastOf(series);
        if (last !== undefined) put(values, deviceId, series.sensorId, last);
      }
    }
    return values;
  }

  function one(sensor: SensorRef): Datapoint | undefined {
    const series = table.resolve(sensor);
    if (series === undefined) return undefined;
    const last = lastOf(series);
    if (last !== 'large') return last;
    const row = lastValueOfSeries.get(series.number) as unknown as
      | readonly [number | null, number, string]
      | undefined;
    if (row === undefined) return undefined;
    return damaged.read('last_values', series.number, () => lastValueOf(row[2], row[0], row[1]));
  }

  function whole(devices: readonly DeviceId[]): LastValues {
    const values = new Map<DeviceId, Map<SensorId, Datapoint>>();
    for (const [deviceId, ofDevice] of brief(devices)) {
      for (const [sensorId, found] of ofDevice) {
        const last = found === 'large' ? one({ deviceId, sensorId }) : found;
        if (last !== undefined) put(values, deviceId, sensorId, last);
      }
    }
    return values;
  }

  /** When the last datapoint was received, of those up to `atMost`. */
  function newestReceived(atMost: Instant): Instant | undefined {
    let newest = newestInRows.first(atMost)?.newest ?? undefined;
    const packed = memtable.newestPacked(atMost);
    if (packed !== undefined && packed > (newest ?? 0)) newest = packed;
    for (const { frozen, memtableEntry } of table.all()) {
      for (const entry of [frozen, memtableEntry]) {
        for (let row = 0; row < (entry?.count ?? 0); row += 1) {
          const received = entry === undefined ? 0 : receivedAt(entry.columns, row);
          if (received <= atMost && received > (newest ?? 0)) newest = received;
        }
      }
    }
    return newest;
  }

  return { brief, one, whole, newestReceived };
}

type Brief = Map<DeviceId, Map<SensorId, Datapoint | 'large'>>;

function put<Last>(
  values: Map<DeviceId, Map<SensorId, Last>>,
  deviceId: DeviceId,
  sensorId: SensorId,
  last: Last,
): void {
  const ofDevice = values.get(deviceId) ?? new Map<SensorId, Last>();
  ofDevice.set(sensorId, last);
  values.set(deviceId, ofDevice);
}
