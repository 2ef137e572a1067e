import type { SensorRef } from '../../domain/datapoints/datapoint.ts';
import type { DeviceId, SensorId } from '../../domain/ids.ts';
import type { DamagedRows } from '../faults.ts';
import { bucketOf } from '../sql/device-row.ts';
import type { ChangeSession, SqlContext, SqlSession, Value } from '../sql/session.ts';
import { createSqlWrites, runWrite, type SqlWrites } from '../sql/writes.ts';
import { createNotificationEngine } from './notification-engine.ts';
import type { Parts } from './parts.ts';
import type { Reader } from './reader.ts';
import type { Writer } from './writer.ts';

// Sensors before their device, in the order in which pushes lock them.
const lockSensors = (condition: string): string =>
  `select series from sensors where ${condition} order by series for update`;
// No foreign key removes these rows with their sensors: it would be checked for each push. Where
// there are parts a trigger of devices does.
const deleteHot = `
  delete from hot using sensors where sensors.bucket = hot.bucket and sensors.series = hot.series`;
const devicesOfUser = `
  select devices.id from devices join users on nocase(owner) = nocase(username)
  where users.id = $1`;
const ofUser = `device_id in (${devicesOfUser})`;
const ofSensor = 'device_id = $1 and sensor_id = $2 and sensors.bucket = $3';
const deleteRetentions = `
  delete from retentions where series in (select series from sensors where ${ofSensor})`;

// The coordinator gives the lock of all processes on a moment before a worker has the commit. The
// row of no writer is held until it has: who gets it finds the sensors as that commit left them.
const lockPart = `
  insert into part_writers (bucket, writer, member) values ($1, 0, '')
  on conflict (bucket, writer) do update set seq = excluded.seq`;
// Statements that ask all parts behind it take its connection: Citus would open one more for them.
const reuseConnections = `select set_config('citus.max_adaptive_executor_pool_size', '1', true)`;

/** Changes of the stores that both engines use; a command has no number. */
function createSharedWrites(member: number | undefined, parts: Parts): SqlWrites {
  const writes = createSqlWrites(createNotificationEngine(member));
  const hasParts = parts.length > 0;

  /** Before a change that concludes from which sensors these devices have. */
  function lockParts(session: ChangeSession, ...ids: readonly string[]): void {
    const locked = new Set(ids.flatMap((id) => parts[bucketOf(id)] ?? []));
    for (const part of locked) session.send(lockPart, part);
    if (locked.size > 0) session.send(reuseConnections);
  }

  const lockInPart = (session: SqlSession, id: DeviceId) =>
    session.run(lockSensors('device_id = $1 and bucket = $2'), id, bucketOf(id));

  async function removeHot(session: SqlSession, condition: string, ...values: Value[]) {
    await session.run(lockSensors(condition), ...values);
    await session.run(`${deleteHot} and ${condition}`, ...values);
  }

  return {
    ...writes,
    insertDevice(session, device) {
      if (device.sensors.length > 0) lockParts(session, device.row.id);
      return writes.insertDevice(session, device);
    },
    putSensor(session, deviceId, ...more) {
      lockParts(session, deviceId);
      return writes.putSensor(session, deviceId, ...more);
    },
    updateSensor(session, deviceId, ...more) {
      lockParts(session, deviceId);
      return writes.updateSensor(session, deviceId, ...more);
    },
    putRetention(session, place, ids, retention) {
      const [deviceId, sensorId] = ids;
      if (deviceId !== undefined && sensorId !== undefined) lockParts(session, deviceId);
      return writes.putRetention(session, place, ids, retention);
    },
    async removeUser(session, id) {
      if (hasParts) {
        const devices = await session.all<{ id: DeviceId }>(devicesOfUser, id);
        lockParts(session, ...devices.map((device) => device.id));
        for (const device of devices) await lockInPart(session, device.id);
      } else await removeHot(session, ofUser, id);
      return writes.removeUser(session, id);
    },
    async removeDevice(session, id) {
      lockParts(session, id);
      if (hasParts) await lockInPart(session, id as DeviceId);
      else await removeHot(session, 'device_id = $1', id);
      return writes.removeDevice(session, id);
    },
    async removeSensor(session, deviceId, sensorId, at) {
      lockParts(session, deviceId);
      const sensor = [deviceId, sensorId, bucketOf(deviceId)] as const;
      await removeHot(session, ofSensor, ...sensor);
      if (hasParts) await session.run(deleteRetentions, ...sensor);
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
