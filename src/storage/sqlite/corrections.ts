import type { CorrectionStore } from '../../domain/datapoints/corrections/correction-store.ts';
import type { DeviceId, SensorId } from '../../domain/ids.ts';
import {
  type CorrectionRow,
  correctionColumns,
  correctionFromRow,
  correctionToRow,
  reachFromRow,
} from '../sql/correction-row.ts';
import { readSafely } from './failures.ts';
import { createSelection } from './selection.ts';
import type { StoreContext } from './store-context.ts';

const listOfSensor = `
  select ?1 as device_id, ?2 as sensor_id, ${correctionColumns} from corrections
  where series = (select series from sensors where device_id = ?1 and sensor_id = ?2)
  order by position`;
const listReaches = `
  select device_id, sensor_id, until, ahead_from, ahead_to
  from corrections join sensors using (series)`;

type ReachRow = Pick<
  CorrectionRow,
  'device_id' | 'sensor_id' | 'until' | 'ahead_from' | 'ahead_to'
>;

/** Corrections in SQLite. */
export function createCorrectionStore({ reader, writer, damaged }: StoreContext): CorrectionStore {
  const ofSensor = createSelection<CorrectionRow>(reader, listOfSensor);
  const reaches = createSelection<ReachRow>(reader, listReaches);
  return {
    reaches: () =>
      readSafely(() =>
        reaches.all().map((row) => ({
          // Rows hold what parsed ids were written from.
          deviceId: row.device_id as DeviceId,
          sensorId: row.sensor_id as SensorId,
          reach: reachFromRow(row),
        })),
      ),
    list: ({ deviceId, sensorId }) =>
      readSafely(() =>
        ofSensor
          .all(deviceId, sensorId)
          .flatMap(
            (row) => damaged.read('corrections', row.id, () => correctionFromRow(row)) ?? [],
          ),
      ),
    insert: (correction) => writer.call('insertCorrection', correctionToRow(correction)),
    remove: ({ deviceId, sensorId }, id) => writer.call('removeCorrection', deviceId, sensorId, id),
  };
}
