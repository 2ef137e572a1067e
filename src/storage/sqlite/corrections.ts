import type { CorrectionStore } from '../../domain/datapoints/corrections/correction-store.ts';
import type { DeviceId, SensorId } from '../../domain/ids.ts';
import {
  type CorrectionHeadRow,
  type CorrectionRow,
  correctionColumns,
  correctionHeadColumns,
  correctionHeadFromRow,
  correctionToRow,
  reachFromRow,
  readCorrections,
} from '../sql/correction-row.ts';
import { readSafely } from './failures.ts';
import { createSelection } from './selection.ts';
import type { StoreContext } from './store-context.ts';

const selectOfSensor = (columns: string): string => `
  select ?1 as device_id, ?2 as sensor_id, ${columns} from corrections
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
  const headsOf = createSelection<CorrectionHeadRow>(reader, selectOfSensor(correctionHeadColumns));
  const ofSensor = createSelection<CorrectionRow>(reader, selectOfSensor(correctionColumns));
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
    heads: ({ deviceId, sensorId }) =>
      readSafely(() =>
        headsOf
          .all(deviceId, sensorId)
          .flatMap(
            (row) => damaged.read('corrections', row.id, () => correctionHeadFromRow(row)) ?? [],
          ),
      ),
    async list({ deviceId, sensorId }, pace) {
      const rows = await readSafely(() => ofSensor.all(deviceId, sensorId));
      return readCorrections(rows, damaged, pace);
    },
    insert: (correction) => writer.call('insertCorrection', correctionToRow(correction)),
    remove: ({ deviceId, sensorId }, id) => writer.call('removeCorrection', deviceId, sensorId, id),
  };
}
