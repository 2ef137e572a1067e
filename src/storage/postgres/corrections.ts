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
} from '../sql/correction-row.ts';
import { insertRow, type SqlSession } from '../sql/session.ts';
import type { StoreContext } from './store-context.ts';

const ofSensor = `
  (bucket, series) = (select bucket, series from sensors where device_id = $1 and sensor_id = $2)`;
const selectOfSensor = (columns: string): string => `
  select $1::text as device_id, $2::text as sensor_id, ${columns} from corrections
  where ${ofSensor} order by position`;
const headsOfSensor = selectOfSensor(correctionHeadColumns);
const listOfSensor = selectOfSensor(correctionColumns);
const listReaches = `
  select device_id, sensor_id, until, ahead_from, ahead_to
  from corrections join sensors using (bucket, series)`;
const findSensor = `
  select sensors.bucket, series, owner from sensors join devices on devices.id = device_id
  where device_id = $1 and sensor_id = $2`;
const tally = `count(*) as n, coalesce(sum(${correctionRowBytes}), 0) as bytes`;
const tallyOfSensor = `select ${tally} from corrections where bucket = $1 and series = $2`;
const tallyOfOwner = `
  select ${tally} from devices join sensors on device_id = devices.id
  join corrections using (series) where nocase(owner) = nocase($1)`;
const deleteRow = `delete from corrections where ${ofSensor} and id = $3`;

type ReachRow = Pick<
  CorrectionRow,
  'device_id' | 'sensor_id' | 'until' | 'ahead_from' | 'ahead_to'
>;

interface Tally {
  readonly n: number;
  readonly bytes: number;
}

/** Corrections in PostgreSQL. */
export function createCorrectionStore({ reader, writer, damaged }: StoreContext): CorrectionStore {
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
    insert: (correction) => writer.call((tx) => insertCorrection(tx, correctionToRow(correction))),
    remove: ({ deviceId, sensorId }, id) =>
      writer.call(async (tx) =>
        (await tx.run(deleteRow, deviceId, sensorId, id)) === 0 ? 'missing' : 'removed',
      ),
  };
}

async function insertCorrection(
  session: SqlSession,
  row: CorrectionRow,
): Promise<'inserted' | 'missing' | 'too_many'> {
  const sensor = await session.first<{ bucket: number; series: number; owner: string }>(
    findSensor,
    row.device_id,
    row.sensor_id,
  );
  if (sensor === undefined) return 'missing';
  const { bucket, series, owner } = sensor;
  const bytes = sizeOfRow(row);
  const perSensor = {
    n: limits.correctionsPerSensorMax,
    bytes: limits.correctionBytesPerSensorMax,
  };
  const perOwner = { n: limits.correctionsPerOwnerMax, bytes: limits.correctionBytesPerOwnerMax };
  const ofSeries = await session.first<Tally>(tallyOfSensor, bucket, series);
  if (isFull(ofSeries, bytes, perSensor)) return 'too_many';
  if (isFull(await session.first<Tally>(tallyOfOwner, owner), bytes, perOwner)) return 'too_many';
  const { by, ...others } = row;
  const values = { ...others, '"by"': by, bucket, series };
  await insertRow(session, 'corrections', `bucket, series, ${correctionColumns}`, values);
  return 'inserted';
}

const isFull = (found: Tally | undefined, more: number, max: Tally): boolean =>
  (found?.n ?? 0) >= max.n || (found?.bytes ?? 0) + more > max.bytes;
