import type { SensorRef } from '../../domain/datapoints/datapoint.ts';
import type { DeviceId, SensorId } from '../../domain/ids.ts';
import type { DamagedRows } from '../faults.ts';
import type { SqlContext } from '../sql/session.ts';
import { createSqlWrites, runWrite, type SqlWrites } from '../sql/writes.ts';
import { createNotificationEngine } from './notification-engine.ts';
import type { Reader } from './reader.ts';
import type { Writer } from './writer.ts';

// Sensors before their device, in the order in which pushes lock them.
const lockSensors = (condition: string): string =>
  `select from sensors where ${condition} order by series for update`;
// No foreign key removes these rows with their sensors: it would be checked for each push.
const deleteHot = `
  delete from hot using sensors where sensors.bucket = hot.bucket and sensors.series = hot.series`;
const ofUser = `
  device_id in (select devices.id from devices join users on nocase(owner) = nocase(username)
    where users.id = $1)`;

/** Changes of the stores that both engines use; a command has no number. */
function createSharedWrites(member: number | undefined): SqlWrites {
  const writes = createSqlWrites(createNotificationEngine(member));
  return {
    ...writes,
    async removeUser(session, id) {
      await session.run(lockSensors(ofUser), id);
      await session.run(`${deleteHot} and ${ofUser}`, id);
      return writes.removeUser(session, id);
    },
    async removeDevice(session, id) {
      await session.run(lockSensors('device_id = $1'), id);
      await session.run(`${deleteHot} and device_id = $1`, id);
      return writes.removeDevice(session, id);
    },
    async removeSensor(session, deviceId, sensorId, at) {
      await session.run(lockSensors('device_id = $1 and sensor_id = $2'), deviceId, sensorId);
      await session.run(`${deleteHot} and device_id = $1 and sensor_id = $2`, deviceId, sensorId);
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
  const writes = createSharedWrites(member);
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
