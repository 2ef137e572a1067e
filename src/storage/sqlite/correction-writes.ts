import type { DatabaseSync } from 'node:sqlite';
import { limits } from '../../domain/limits.ts';
import {
  type CorrectionRow,
  correctionColumns,
  correctionRowBytes,
  sizeOfRow,
} from '../sql/correction-row.ts';
import { createSelection } from './selection.ts';

const findSensor = `
  select series, owner from sensors join devices on devices.id = device_id
  where device_id = ? and sensor_id = ?`;
const tally = `count(*) as n, coalesce(sum(${correctionRowBytes}), 0) as bytes`;
const tallyOfSensor = `select ${tally} from corrections where series = ?`;
const tallyOfOwner = `
  select ${tally} from devices join sensors on device_id = devices.id
  join corrections using (series) where owner = ?`;
const insertRow = `
  insert into corrections (series, ${correctionColumns})
  values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;
const deleteRow = `
  delete from corrections where id = ? and series =
    (select series from sensors where device_id = ? and sensor_id = ?)`;

interface Tally {
  readonly n: number;
  readonly bytes: number;
}

/** The changes that the writer thread makes to corrections. */
export function createCorrectionWrites(database: DatabaseSync) {
  const sensor = createSelection<{ series: number; owner: string }>(database, findSensor);
  const ofSensor = createSelection<Tally>(database, tallyOfSensor);
  const ofOwner = createSelection<Tally>(database, tallyOfOwner);
  const insert = database.prepare(insertRow);
  const remove = database.prepare(deleteRow);

  const isFull = (found: Tally | undefined, more: number, max: Tally): boolean =>
    (found?.n ?? 0) >= max.n || (found?.bytes ?? 0) + more > max.bytes;

  return {
    insertCorrection(row: CorrectionRow): 'inserted' | 'missing' | 'too_many' {
      const found = sensor.first(row.device_id, row.sensor_id);
      if (found === undefined) return 'missing';
      const bytes = sizeOfRow(row);
      const perSensor = {
        n: limits.correctionsPerSensorMax,
        bytes: limits.correctionBytesPerSensorMax,
      };
      const perOwner = {
        n: limits.correctionsPerOwnerMax,
        bytes: limits.correctionBytesPerOwnerMax,
      };
      if (isFull(ofSensor.first(found.series), bytes, perSensor)) return 'too_many';
      if (isFull(ofOwner.first(found.owner), bytes, perOwner)) return 'too_many';
      insert.run(
        found.series,
        ...[row.id, row.kind, row.from_time, row.to_time, row.until, row.ahead_from, row.ahead_to],
        ...[row.count, row.by, row.created_at, row.details],
      );
      return 'inserted';
    },
    removeCorrection: (deviceId: string, sensorId: string, id: string): 'removed' | 'missing' =>
      remove.run(id, deviceId, sensorId).changes === 0 ? 'missing' : 'removed',
  };
}
