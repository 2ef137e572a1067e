import type {
  CorrectedItem,
  Correction,
  CorrectionHead,
  CorrectionStore,
} from '../../domain/datapoints/corrections/correction.ts';
import { createOverlay } from '../../domain/datapoints/corrections/overlay.ts';
import type { DatapointColumns } from '../../domain/datapoints/datapoint-columns.ts';
import type { CorrectionId, DeviceId, SensorId, Username } from '../../domain/ids.ts';
import { limits } from '../../domain/limits.ts';
import { isJsonObject, type JsonValue, parseJson } from '../../lib/json.ts';
import { ownPace, type Pace } from '../../lib/scheduling/fair-slices.ts';
import type { DamagedRows } from '../faults.ts';
import { bucketOf } from './device-row.ts';
import type { SqlContext, Writes } from './session.ts';

/** A row of the table corrections, with the sensor that its series belongs to. */
export interface CorrectionRow {
  readonly id: string;
  readonly device_id: string;
  readonly sensor_id: string;
  readonly kind: string;
  readonly from_time: number;
  readonly to_time: number;
  readonly until: number;
  readonly ahead_from: number | null;
  readonly ahead_to: number | null;
  readonly count: number;
  readonly by: string;
  readonly created_at: number;
  /** The value or the items, as JSON text. */
  readonly details: string;
}

/** A row without its values. */
type CorrectionHeadRow = Omit<CorrectionRow, 'details'>;

/** The columns that CorrectionHeadRow has; `by` and `until` are fine names in SQLite. */
const correctionHeadColumns =
  'id, kind, from_time, to_time, until, ahead_from, ahead_to, count, "by", created_at';

/** The columns of the table that CorrectionRow has. */
export const correctionColumns = `${correctionHeadColumns}, details`;

/** Bytes that a row counts besides its details. */
const rowBytes = 200;

/** Bytes that a row counts towards the limits. */
const sizeOfRow = ({ details }: Pick<CorrectionRow, 'details'>): number =>
  rowBytes + Buffer.byteLength(details);

/** The same in the words of the database. */
const correctionRowBytes = `${rowBytes} + octet_length(corrections.details)`;

/** Times as differences: a minute apart, an item takes about fifteen bytes. */
function detailsOf({ value, items, from }: Correction): string {
  let before = from;
  const rows = items.map((item): JsonValue => {
    const step = item.time - before;
    before = item.time;
    return item.isTimed ? [step, item.value] : [step, item.value, 1];
  });
  return JSON.stringify({ ...(value !== undefined && { value }), items: rows });
}

function correctionToRow(correction: Correction): Omit<CorrectionRow, 'device_id' | 'sensor_id'> {
  const { id, kind, from, to, reach, count, by, createdAt } = correction;
  return {
    ...{ id, kind, from_time: from, to_time: to, until: reach.until },
    ...{ ahead_from: reach.ahead?.[0] ?? null, ahead_to: reach.ahead?.[1] ?? null },
    ...{ count, by, created_at: createdAt, details: detailsOf(correction) },
  };
}

/** Throws when the row cannot be understood. */
function correctionFromRow(row: CorrectionRow): Correction {
  const details = parseJson(row.details);
  if (!isJsonObject(details)) throw new Error('the details of a correction must be an object');
  const { value, items = [] } = details;
  if (!Array.isArray(items)) throw new Error('the items of a correction must be an array');
  return {
    ...correctionHeadFromRow(row),
    ...(value !== undefined && { value }),
    items: itemsFrom(items, row.from_time),
  };
}

/** Throws when the row cannot be understood. */
function correctionHeadFromRow(row: CorrectionHeadRow): CorrectionHead {
  const { kind } = row;
  if (kind !== 'removed' && kind !== 'corrected') throw new Error('unknown kind of correction');
  return {
    // Rows hold what parsed ids were written from.
    id: row.id as CorrectionId,
    deviceId: row.device_id as DeviceId,
    sensorId: row.sensor_id as SensorId,
    by: row.by as Username,
    ...{ kind, from: row.from_time, to: row.to_time },
    ...{ count: row.count, createdAt: row.created_at },
    reach: reachFromRow(row),
  };
}

/** Shows datapoints as these rows, all of one sensor, show them. */
export function showByRows(
  rows: readonly CorrectionRow[],
): ((columns: DatapointColumns) => DatapointColumns) | undefined {
  if (rows.length === 0) return undefined;
  const readable = rows.flatMap((row) => {
    try {
      return [correctionFromRow(row)];
    } catch {
      // Reads leave it out as well, and log it.
      return [];
    }
  });
  return createOverlay(readable).showColumns;
}

/** Reads the corrections of these rows in slices; sets aside those that cannot be understood. */
async function readCorrections(
  rows: readonly CorrectionRow[],
  damaged: DamagedRows,
  pace: Pace = ownPace(),
): Promise<readonly Correction[]> {
  const corrections: Correction[] = [];
  for (const row of rows) {
    const correction = damaged.read('corrections', row.id, () => correctionFromRow(row));
    if (correction !== undefined) corrections.push(correction);
    if (pace.isOver()) await pace.rest();
  }
  return corrections;
}

function reachFromRow(row: Omit<ReachRow, 'device_id' | 'sensor_id'>): Correction['reach'] {
  const { until, ahead_from, ahead_to } = row;
  if (ahead_from === null || ahead_to === null) return { until };
  return { until, ahead: [ahead_from, ahead_to] };
}

function itemsFrom(rows: readonly JsonValue[], from: number): readonly CorrectedItem[] {
  let time = from;
  return rows.map((row) => {
    if (!Array.isArray(row)) throw new Error('an item of a correction must be an array');
    const [step, value, mark] = row as readonly (JsonValue | undefined)[];
    if (typeof step !== 'number' || value === undefined) throw new Error('an item lacks its value');
    time += step;
    return { time, isTimed: mark !== 1, value };
  });
}

const isSensor = 'bucket = $1 and device_id = $2 and sensor_id = $3';
const ofSensor = `bucket = $1 and series = (select series from sensors where ${isSensor})`;
const keyOf = (deviceId: string, sensorId: string) =>
  [bucketOf(deviceId), deviceId, sensorId] as const;
const selectOfSensor = (columns: string): string => `
  select cast($2 as text) as device_id, cast($3 as text) as sensor_id, ${columns} from corrections
  where ${ofSensor} order by position`;
const headsOfSensor = selectOfSensor(correctionHeadColumns);
const listOfSensor = selectOfSensor(correctionColumns);
const listReaches = `
  select device_id, sensor_id, until, ahead_from, ahead_to
  from corrections join sensors using (bucket, series)`;
const selectOwner = `
  select owner from sensors join devices on devices.id = device_id where sensors.${isSensor}`;
const tally = `count(*) as n, coalesce(sum(${correctionRowBytes}), 0) as bytes`;
const tallyOfSensor = `select ${tally} from corrections where ${ofSensor}`;
const tallyOfOwner = `
  select ${tally} from corrections join sensors using (bucket, series)
  join devices on devices.id = device_id where nocase(owner) = nocase($1)`;
const insertRow = `
  insert into corrections (bucket, series, ${correctionColumns})
  select bucket, series, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14
  from sensors where ${isSensor}`;
const deleteRow = `delete from corrections where ${ofSensor} and id = $4`;

type ReachRow = Pick<
  CorrectionRow,
  'device_id' | 'sensor_id' | 'until' | 'ahead_from' | 'ahead_to'
>;

interface Tally {
  readonly n: number;
  readonly bytes: number;
}

/** Changes of corrections. */
export const correctionWrites = {
  async insertCorrection(
    session,
    deviceId: DeviceId,
    sensorId: SensorId,
    row: ReturnType<typeof correctionToRow>,
  ) {
    const sensor = keyOf(deviceId, sensorId);
    const found = await session.first<{ owner: string }>(selectOwner, ...sensor);
    if (found === undefined) return 'missing';
    const bytes = sizeOfRow(row);
    const perSensor = {
      n: limits.correctionsPerSensorMax,
      bytes: limits.correctionBytesPerSensorMax,
    };
    const perOwner = { n: limits.correctionsPerOwnerMax, bytes: limits.correctionBytesPerOwnerMax };
    const ofOne = await session.first<Tally>(tallyOfSensor, ...sensor);
    if (isFull(ofOne, bytes, perSensor)) return 'too_many';
    const ofAll = await session.first<Tally>(tallyOfOwner, found.owner);
    if (isFull(ofAll, bytes, perOwner)) return 'too_many';
    const { id, kind, from_time, to_time, until, ahead_from, ahead_to, count, by } = row;
    const span = [from_time, to_time, until, ahead_from, ahead_to];
    const rest = [count, by, row.created_at, row.details];
    await session.run(insertRow, ...sensor, id, kind, ...span, ...rest);
    return 'inserted';
  },
  removeCorrection: async (session, deviceId: string, sensorId: string, id: string) =>
    (await session.run(deleteRow, ...keyOf(deviceId, sensorId), id)) === 0 ? 'missing' : 'removed',
} satisfies Writes;

const isFull = (found: Tally | undefined, more: number, max: Tally): boolean =>
  (found?.n ?? 0) >= max.n || (found?.bytes ?? 0) + more > max.bytes;

/** Corrections in the tables of either engine. */
export function createCorrectionStore(
  options: SqlContext<typeof correctionWrites>,
): CorrectionStore {
  const { reader, write, damaged } = options;
  return {
    async reaches() {
      const rows = await reader.all<ReachRow>(listReaches);
      return rows.map((row) => ({
        // Rows hold what parsed ids were written from.
        deviceId: row.device_id as DeviceId,
        sensorId: row.sensor_id as SensorId,
        reach: reachFromRow(row),
      }));
    },
    async heads({ deviceId, sensorId }) {
      const rows = await reader.all<CorrectionHeadRow>(headsOfSensor, ...keyOf(deviceId, sensorId));
      return rows.flatMap(
        (row) => damaged.read('corrections', row.id, () => correctionHeadFromRow(row)) ?? [],
      );
    },
    async list({ deviceId, sensorId }, pace) {
      const rows = await reader.all<CorrectionRow>(listOfSensor, ...keyOf(deviceId, sensorId));
      return readCorrections(rows, damaged, pace);
    },
    insert(correction) {
      const { deviceId, sensorId } = correction;
      return write('insertCorrection', deviceId, sensorId, correctionToRow(correction));
    },
    remove: ({ deviceId, sensorId }, id) => write('removeCorrection', deviceId, sensorId, id),
  };
}
