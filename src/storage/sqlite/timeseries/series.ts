import type { DatabaseSync } from 'node:sqlite';
import {
  type ColumnBatch,
  datapointAt,
  emptyBatch,
} from '../../../domain/datapoints/column-batch.ts';
import type { Datapoint, SensorRef } from '../../../domain/datapoints/datapoint.ts';
import type { DeviceId, SensorId } from '../../../domain/ids.ts';
import { storedJson } from '../../../lib/long-json.ts';
import type { Gap } from '../../chunks/chunk-lookup.ts';
import { type Columns, sortByTime } from '../../chunks/columns.ts';
import type { DamagedRows } from '../../faults.ts';
import type { DatapointLimits } from './datapoint-limits.ts';
import {
  emptyMemtableEntry,
  joinRows,
  type MemtableColumns,
  type MemtableEntry,
  valueAt,
  viewRows,
} from './memtable-columns.ts';
import type { SequenceIndex } from './sequence-index.ts';

/** The state in memory of one life of a sensor; its datapoints are counted by arrival. */
export interface Series {
  readonly number: number;
  readonly deviceId: DeviceId;
  readonly sensorId: SensorId;
  /** Number of datapoints that are in chunks for certain. */
  flushed: number;
  /** The next ones, on their way to chunks. */
  frozen: MemtableEntry | undefined;
  /** The ones after the frozen ones. */
  memtableEntry: MemtableEntry;
  /** Which of frozen and memtableEntry is the last value; undefined: it is in its row, if any. */
  lastAt: number | undefined;
  /** The last value when it was last asked for; large: in its row, and nothing else holds it. */
  last: Datapoint | 'large' | undefined;
  /** No stored timestamp is later; none need be as late. */
  newestTimestamp: number;
  /** Which of frozen and memtableEntry has this timestamp and value; made when first asked for. */
  sequenceNumbers: SequenceIndex | undefined;
  /** Where late datapoints came last and are in no chunk; until something is flushed. */
  gap: Gap | undefined;
  /** Frozen and memtableEntry by order time; made when first asked for. */
  sorted: Columns | undefined;
  /** The sensor was removed. */
  isForgotten: boolean;
}

/** A last value whose JSON text has more bytes stays in its row. */
const smallBytesMax = 512;

/** The text of a last value; large: as a blob without bytes, which no text is; absent: null. */
const briefValue = `iif(octet_length(value) > ${smallBytesMax}, x'', value)`;

const selectWith = (newest: string) => `
  select sensors.series, device_id, sensor_id, coalesce(sealed, 0), timestamp, received_at,
    ${briefValue}, ${newest}
  from sensors left join last_values on last_values.series = sensors.series`;
const columns = selectWith(`
    (select max_time from chunks where chunks.series = sensors.series
     order by min_time desc, max_time desc, id desc limit 1)`);
const findBySensor = `${columns} where device_id = ? and sensor_id = ?`;
const findByNumber = `${columns} where sensors.series = ?`;
const findByDevice = `${columns} where device_id = ?`;
const findByDevices = `
  ${selectWith('null')} where device_id in (select value from json_each(?))`;

const findNumbers = `
  select series from sensors where device_id = ?1 and sensor_id = coalesce(?2, sensor_id)`;

type SeriesRow = readonly [
  series: number,
  deviceId: DeviceId,
  sensorId: SensorId,
  flushed: number,
  timestamp: number | null,
  receivedAt: number | null,
  value: string | Uint8Array | null,
  newest: number | null,
];

/** What the log holds of series that are not in memory. */
export interface LoggedSeries {
  /** The last value of a series that its row does not know yet; `inRow`: the one that it knows. */
  newerLast(number: number, inRow: Series['last']): Series['last'];
  /** Adds what is packed of a series, which is packed no more. */
  unpack(series: Series): void;
}

interface Resident {
  readonly series: Map<SensorId, Series>;
  wasUsed: boolean;
  /** All series with datapoints are here; one made later has none before it comes here itself. */
  isWhole: boolean;
}

/** The series in memory: every one with datapoints outside chunks, and those used lately. */
export function createSeriesTable(
  reader: DatabaseSync,
  limits: DatapointLimits,
  damaged: DamagedRows,
  logged: LoggedSeries,
) {
  const bySensor = reader.prepare(findBySensor);
  const byNumber = reader.prepare(findByNumber);
  const byDevice = reader.prepare(findByDevice);
  const byDevices = reader.prepare(findByDevices);
  const numbersOf = reader.prepare(findNumbers);
  const statements = [bySensor, byNumber, byDevice, byDevices, numbersOf];
  for (const statement of statements) statement.setReturnArrays(true);
  const devices = new Map<DeviceId, Resident>();
  let count = 0;
  let sweepAt = limits.seriesMax;

  function residentOf(deviceId: DeviceId): Resident {
    const known = devices.get(deviceId);
    if (known !== undefined) return known;
    const resident = { series: new Map(), wasUsed: true, isWhole: false };
    devices.set(deviceId, resident);
    return resident;
  }

  function keep(row: SeriesRow): Series {
    const [number, deviceId, sensorId] = row;
    const known = devices.get(deviceId)?.series.get(sensorId);
    if (known?.number === number) return known;
    const series = seriesOf(row, damaged);
    logged.unpack(series);
    residentOf(deviceId).series.set(sensorId, series);
    if (known === undefined) count += 1;
    return series;
  }

  /** Goes round once, dropping idle devices that were not used since the last time. */
  function makeRoom(): void {
    for (const [deviceId, resident] of [...devices]) {
      const isIdle = !resident.wasUsed && [...resident.series.values()].every(isInChunks);
      resident.wasUsed = false;
      devices.delete(deviceId);
      if (isIdle) count -= resident.series.size;
      else devices.set(deviceId, resident);
    }
    // Series with datapoints outside chunks must stay: sweep again when there are many more.
    sweepAt = Math.max(limits.seriesMax, count * 1.25);
  }

  return {
    /** The series of a sensor, or undefined when there is no such sensor. */
    resolve({ deviceId, sensorId }: SensorRef): Series | undefined {
      const resident = devices.get(deviceId);
      const known = resident?.series.get(sensorId);
      if (resident !== undefined && known !== undefined) {
        resident.wasUsed = true;
        return known;
      }
      const row = bySensor.get(deviceId, sensorId) as unknown as SeriesRow | undefined;
      if (row === undefined) return undefined;
      if (count >= sweepAt) makeRoom();
      return keep(row);
    },
    /** The same by number. Drops nothing from memory, so that a replay may hold on to many. */
    resolveNumber(number: number): Series | undefined {
      const row = byNumber.get(number) as unknown as SeriesRow | undefined;
      return row === undefined ? undefined : keep(row);
    },
    /** Last values of the series of devices that are not in memory, and do not come there. */
    *lasts(
      deviceIds: readonly DeviceId[],
    ): Iterable<readonly [DeviceId, SensorId, Series['last']]> {
      const rows = byDevices.all(JSON.stringify(deviceIds)) as unknown as SeriesRow[];
      for (const row of rows) {
        const [number, deviceId, sensorId] = row;
        yield [deviceId, sensorId, logged.newerLast(number, lastInRow(row, damaged))];
      }
    },
    /** The numbers of the series of a device, or of one of its sensors, as the table says. */
    numbers(deviceId: DeviceId, sensorId: SensorId | undefined): readonly number[] {
      const rows = numbersOf.all(deviceId, sensorId ?? null) as unknown as [number][];
      return rows.map(([number]) => number);
    },
    /** All series that are in memory. */
    *all(): Iterable<Series> {
      for (const { series } of devices.values()) yield* series.values();
    },
    /** Only what is in memory. */
    residents: (deviceId: DeviceId): Iterable<Series> =>
      devices.get(deviceId)?.series.values() ?? [],
    /** Whether every series of the device that has datapoints is in memory. */
    isWhole(deviceId: DeviceId): boolean {
      const resident = devices.get(deviceId);
      if (resident === undefined) return false;
      resident.wasUsed = true;
      return resident.isWhole;
    },
    /** Brings all series of these devices to memory; they stay for the current slice at least. */
    makeWhole(deviceIds: readonly DeviceId[]): void {
      // Once, and first: a later sweep could drop a device brought here a moment ago.
      if (deviceIds.length > 0 && count >= sweepAt) makeRoom();
      for (const deviceId of deviceIds) {
        const rows = byDevice.all(deviceId) as unknown as SeriesRow[];
        for (const row of rows) keep(row);
        if (rows.length > 0) residentOf(deviceId).isWhole = true;
      }
    },
    /** Drops a sensor, or all of a device, from memory; answers what was dropped. */
    forget(deviceId: DeviceId, sensorId: SensorId | undefined): readonly Series[] {
      const resident = devices.get(deviceId);
      if (resident === undefined) return [];
      const dropped = [...resident.series.values()].filter(
        (series) => sensorId === undefined || series.sensorId === sensorId,
      );
      for (const series of dropped) {
        series.isForgotten = true;
        resident.series.delete(series.sensorId);
      }
      count -= dropped.length;
      if (resident.series.size === 0) devices.delete(deviceId);
      return dropped;
    },
  };
}

export type SeriesTable = ReturnType<typeof createSeriesTable>;

/** How many datapoints the series has, counting those on their way to disk. */
export function nextSequenceNumber({ flushed, frozen, memtableEntry }: Series): number {
  return flushed + (frozen?.count ?? 0) + memtableEntry.columns.count;
}

/** Where a datapoint outside chunks is, by its count of arrival. */
export function unflushedAt(
  series: Series,
  sequenceNumber: number,
): { readonly columns: MemtableColumns; readonly row: number } {
  const { flushed, frozen, memtableEntry } = series;
  const frozenCount = frozen?.count ?? 0;
  const row = sequenceNumber - flushed;
  if (frozen !== undefined && row < frozenCount) return { columns: frozen.columns, row };
  if (row - frozenCount >= memtableEntry.columns.count) {
    throw new Error(`series ${series.number} has no such datapoint`);
  }
  return { columns: memtableEntry.columns, row: row - frozenCount };
}

/**
 * The datapoints outside chunks, by order time, for a reader who sees `flushed` of them in chunks:
 * a step of flushing may be committed before its answer arrives, or its answer may be lost.
 */
export function unflushedOf(series: Series, flushed: number): Columns {
  const { frozen, memtableEntry } = series;
  const seen = Math.max(0, flushed - series.flushed);
  if (seen > 0 && seen !== frozen?.count) {
    const { columns, count } = joined(frozen, memtableEntry);
    return sortByTime(viewRows(columns, Math.min(seen, count), count));
  }
  const isInMemtableOnly = frozen === undefined || seen > 0;
  if (isInMemtableOnly && memtableEntry.isSorted) return rowsOf(memtableEntry);
  if (isInMemtableOnly && frozen !== undefined) return sortByTime(rowsOf(memtableEntry));
  series.sorted ??= sortByTime(rowsOf(joined(frozen, memtableEntry)));
  return series.sorted;
}

/** Datapoints in order of arrival. */
function rowsOf({ columns, count }: Pick<MemtableEntry, 'columns' | 'count'>): Columns {
  return viewRows(columns, 0, count);
}

function joined(
  frozen: MemtableEntry | undefined,
  memtableEntry: MemtableEntry,
): Pick<MemtableEntry, 'columns' | 'count'> {
  if (frozen === undefined) return memtableEntry;
  return {
    columns: joinRows(frozen.columns, memtableEntry.columns),
    count: frozen.count + memtableEntry.count,
  };
}

function isInChunks({ frozen, memtableEntry }: Series): boolean {
  return frozen === undefined && memtableEntry.columns.count === 0;
}

function seriesOf(row: SeriesRow, damaged: DamagedRows): Series {
  const [number, deviceId, sensorId, flushed, , , , newest] = row;
  return {
    number,
    deviceId,
    sensorId,
    flushed,
    frozen: undefined,
    memtableEntry: emptyMemtableEntry(),
    lastAt: undefined,
    last: lastInRow(row, damaged),
    newestTimestamp: newest ?? Number.NEGATIVE_INFINITY,
    sequenceNumbers: undefined,
    gap: undefined,
    sorted: undefined,
    isForgotten: false,
  };
}

function lastInRow(row: SeriesRow, damaged: DamagedRows): Series['last'] {
  const [number, , , , timestamp, receivedAt, value] = row;
  if (value === null) return undefined;
  if (typeof value !== 'string') return 'large';
  return damaged.read('last_values', number, () => lastValueOf(value, timestamp, receivedAt ?? 0));
}

/** The last value; large: it is in its row. */
export function lastOf(series: Series): Datapoint | 'large' | undefined {
  if (series.lastAt !== undefined)
    series.last ??= datapointAt(unflushedBatch(series, series.lastAt), 0);
  return series.last;
}

/** Whether there is a last value that can be read. */
export function hasLast({ last, lastAt }: Series): boolean {
  return last !== undefined || lastAt !== undefined;
}

/** The datapoint outside chunks that has this count of arrival is the last value now. */
export function moveLast(series: Series, sequenceNumber: number): void {
  series.lastAt = sequenceNumber;
  series.last = undefined;
}

/** The answer of lastOf, for lists: a large value is not read. */
export function briefLastOf(series: Series): Datapoint | 'large' | undefined {
  return isLastLarge(series) ? 'large' : lastOf(series);
}

/** Of `flushed` datapoints in chunks now, one may be the last value: it is in its row, too. */
export function settleLast(series: Series, flushed: number): void {
  const { lastAt } = series;
  if (lastAt === undefined || lastAt >= flushed) return;
  series.last = briefLastOf(series);
  series.lastAt = undefined;
}

function isLastLarge(series: Series): boolean {
  if (series.lastAt === undefined) return series.last === 'large';
  const { columns, row } = unflushedAt(series, series.lastAt);
  return isLarge(valueAt(columns, row));
}

/** Whether a last value, a number or JSON text, is not kept beside its row. */
export const isLarge = (value: string | number | undefined): boolean =>
  typeof value === 'string' &&
  value.length * 3 > smallBytesMax &&
  Buffer.byteLength(value) > smallBytesMax;

/** The last value where it is not in its row yet, as a batch; else no datapoint. */
export function lastToKeep(series: Series): ColumnBatch {
  return series.lastAt === undefined ? emptyBatch : unflushedBatch(series, series.lastAt);
}

/** A datapoint outside chunks, by its count of arrival. */
function unflushedBatch(series: Series, sequenceNumber: number): ColumnBatch {
  const { columns, row } = unflushedAt(series, sequenceNumber);
  return viewRows(columns, row, row + 1);
}

/** A datapoint as a row keeps it. */
export function lastValueOf(text: string, timestamp: number | null, receivedAt: number): Datapoint {
  const value = storedJson(text);
  return timestamp === null ? { value, receivedAt } : { value, timestamp, receivedAt };
}
