import type { CorrectionStore } from '../../domain/datapoints/corrections/correction-store.ts';
import type { DeviceId, SensorId } from '../../domain/ids.ts';
import { limits } from '../../domain/limits.ts';
import {
  type CorrectionHeadRow,
  type CorrectionRow,
  correctionColumns,
  correctionHeadColumns,
  correctionHeadFromRow,
  correctionRowBytes,
  correctionToRow,
  reachFromRow,
  readCorrections,
  sizeOfRow,
} from './correction-row.ts';
import type { SqlContext, SqlSession } from './session.ts';

const isSensor = 'device_id = $1 and sensor_id = $2';
const ofSensor = `(bucket, series) = (select bucket, series from sensors where ${isSensor})`;
const selectOfSensor = (columns: string): string => `
  select cast($1 as text) as device_id, cast($2 as text) as sensor_id, ${columns} from corrections
  where ${ofSensor} order by position`;
const headsOfSensor = selectOfSensor(correctionHeadColumns);
const listOfSensor = selectOfSensor(correctionColumns);
const listReaches = `
  select device_id, sensor_id, until, ahead_from, ahead_to
  from corrections join sensors using (bucket, series)`;
const selectOwner = `
  select owner from sensors join devices on devices.id = device_id where ${isSensor}`;
const tally = `count(*) as n, coalesce(sum(${correctionRowBytes}), 0) as bytes`;
const tallyOfSensor = `select ${tally} from corrections where ${ofSensor}`;
const tallyOfOwner = `
  select ${tally} from devices join sensors on device_id = devices.id
  join corrections using (series) where nocase(owner) = nocase($1)`;
const insertRow = `
  insert into corrections (bucket, series, ${correctionColumns})
  select bucket, series, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13
  from sensors where ${isSensor}`;
const deleteRow = `delete from corrections where ${ofSensor} and id = $3`;

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
    session: SqlSession,
    row: CorrectionRow,
  ): Promise<'inserted' | 'missing' | 'too_many'> {
    const sensor = [row.device_id, row.sensor_id] as const;
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
  removeCorrection: async (
    session: SqlSession,
    ...key: readonly [deviceId: string, sensorId: string, id: string]
  ): Promise<'removed' | 'missing'> =>
    (await session.run(deleteRow, ...key)) === 0 ? 'missing' : 'removed',
};

const isFull = (found: Tally | undefined, more: number, max: Tally): boolean =>
  (found?.n ?? 0) >= max.n || (found?.bytes ?? 0) + more > max.bytes;

/** Corrections in the tables of either engine. */
export function createCorrectionStore({
  reader,
  write,
  damaged,
}: SqlContext<typeof correctionWrites>): CorrectionStore {
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
      const rows = await reader.all<CorrectionHeadRow>(headsOfSensor, deviceId, sensorId);
      return rows.flatMap(
        (row) => damaged.read('corrections', row.id, () => correctionHeadFromRow(row)) ?? [],
      );
    },
    async list({ deviceId, sensorId }, pace) {
      const rows = await reader.all<CorrectionRow>(listOfSensor, deviceId, sensorId);
      return readCorrections(rows, damaged, pace);
    },
    insert: (correction) => write('insertCorrection', correctionToRow(correction)),
    remove: ({ deviceId, sensorId }, id) => write('removeCorrection', deviceId, sensorId, id),
  };
}
