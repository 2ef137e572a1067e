import type { SensorRef } from '../../domain/datapoints/datapoint.ts';
import type { DeviceId, SensorId } from '../../domain/ids.ts';
import type { DamagedRows } from '../faults.ts';
import type { ChangeSession, SqlContext } from '../sql/session.ts';
import { createSqlWrites, runWrite, type SqlWrites } from '../sql/writes.ts';
import { createNotificationEngine } from './notification-engine.ts';
import { bucketsOf, type Parts, partOf } from './parts.ts';
import type { Reader } from './reader.ts';
import type { Writer } from './writer.ts';

// Sensors before their device, in the order in which pushes lock them.
const isOf = 'bucket = any($1::smallint[]) and device_id = any($2::text[])';
const isOne = ` and sensor_id = $3`;
const lockSensors = (condition: string): string =>
  `select series from sensors where ${condition} order by series for update`;
const isIn = 'bucket = any($1::smallint[]) and series = any($2::bigint[])';
// No foreign key removes these rows with their sensors: it would be checked for each push.
const deleteHot = `delete from hot where ${isIn}`;
// Nor these where sensors are in parts, and retentions and devices in none.
const deleteRetentions = 'delete from retentions where series = any($1::bigint[])';
const deleteSensors = `delete from sensors where ${isIn}`;
const selectDevices = `
  select devices.id from devices join users on nocase(owner) = nocase(username)
  where users.id = $1`;

/** Changes of the stores that both engines use; a command has no number. */
function createSharedWrites(member: number | undefined, parts: Parts): SqlWrites {
  const writes = createSqlWrites(createNotificationEngine(member));

  /** Removes what no foreign key does, of these devices or of one sensor, part by part. */
  async function removeData(session: ChangeSession, ids: readonly string[], sensorId?: string) {
    const devices = ids.map((deviceId) => ({ deviceId }));
    const byPart = Map.groupBy(devices, (device) => partOf(parts, device));
    for (const [, ofPart] of [...byPart].sort(([a], [b]) => a - b)) {
      const buckets = bucketsOf(ofPart);
      const rows = await session.all<{ series: number }>(
        lockSensors(sensorId === undefined ? isOf : `${isOf}${isOne}`),
        ...[buckets, ofPart.map(({ deviceId }) => deviceId)],
        ...(sensorId === undefined ? [] : [sensorId]),
      );
      const series = rows.map((row) => row.series);
      session.send(deleteHot, buckets, series);
      session.send(deleteRetentions, series);
      if (sensorId === undefined) session.send(deleteSensors, buckets, series);
    }
  }

  return {
    ...writes,
    async removeUser(session, id) {
      const devices = await session.all<{ id: string }>(selectDevices, id);
      await removeData(
        session,
        devices.map((device) => device.id),
      );
      return writes.removeUser(session, id);
    },
    async removeDevice(session, id) {
      await removeData(session, [id]);
      return writes.removeDevice(session, id);
    },
    async removeSensor(session, deviceId, sensorId, at) {
      await removeData(session, [deviceId], sensorId);
      return writes.removeSensor(session, deviceId, sensorId, at);
    },
  };
}

/** The parts that every store of the engine is made of. */
export interface StoreContext {
  readonly reader: Reader;
  readonly writer: Writer;
  readonly damaged: DamagedRows;
}

/** Of stores that hand out what one process alone has to do. */
export interface ClaimContext extends StoreContext {
  /** The number of this process among those that serve the database. */
  readonly member: number;
}

/** The parts of stores that both engines use; a command has no number. */
export function sharedContext(
  options: StoreContext & Partial<ClaimContext>,
): SqlContext<SqlWrites> {
  const { reader, writer, damaged, member } = options;
  const writes = createSharedWrites(member, writer.parts);
  return {
    ...{ reader, damaged },
    write: (name, ...args) =>
      writer.call(
        (session) => runWrite(writes[name], session, args),
        ofSensors.has(name)
          ? { sensors: [sensorFrom(args)], isOfOwners: name === 'insertCorrection' }
          : undefined,
      ),
  };
}

/** Changes of the data of a sensor, which their first arguments name. */
const ofSensors: ReadonlySet<string> = new Set<keyof SqlWrites>([
  'insertCorrection',
  'removeCorrection',
]);

function sensorFrom([deviceId, sensorId]: readonly unknown[]): SensorRef {
  // Their stores were handed parsed ids.
  return { deviceId: deviceId as DeviceId, sensorId: sensorId as SensorId };
}
