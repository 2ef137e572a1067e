import { type ActuatorStep, actuatorAfter } from '../../domain/devices/actuator-step.ts';
import { parseJson } from '../../lib/json.ts';
import { bucketOf } from './bucket.ts';
import { actuators, sensors } from './device-part-writes.ts';
import {
  actuatorFromRow,
  type DeviceRow,
  deviceColumns,
  type PartRow,
  partDetails,
  searchColumns,
} from './device-row.ts';
import type { ResourcePatch } from './patch.ts';
import { patchingOf, removalOf } from './resources.ts';
import type { SqlSession } from './session.ts';

/** A new device, ready for its rows. */
export interface DeviceInsert {
  readonly row: DeviceRow;
  readonly sensors: readonly PartRow[];
  readonly actuators: readonly PartRow[];
}

const insertDevice = `
  insert into devices (bucket, ${deviceColumns}, gateway_id, domain)
  select bucket, $2, $3, $4, $5, $6, $7, $8, $9 from (select cast($1 as integer) as bucket) as own
  where true on conflict do nothing`;
const changeDevice = `
  update devices
  set owner = $1, visibility = $2, gateway_id = $3, domain = $4, details = $5, modified_at = $6
  where id = $7`;
const addStrangers = `
  update devices
  set stranger_bytes = case when stranger_bytes + cast(value2 as bigint) < 0 then 0
    else stranger_bytes + cast(value2 as bigint) end
  from each($1, $2) where id = value`;
const patched = patchingOf('device');

/** Changes of devices, sensors and actuators. */
export const deviceWrites = {
  async insertDevice(
    session: SqlSession,
    { row, ...parts }: DeviceInsert,
  ): Promise<'inserted' | 'duplicate'> {
    const { id, owner, visibility, created_at, modified_at, details } = row;
    const { gateway_id, domain } = searchColumns(details);
    const columns = [id, owner, visibility, created_at, modified_at, details, gateway_id, domain];
    if ((await session.run(insertDevice, bucketOf(id), ...columns)) === 0) return 'duplicate';
    await sensors.insertAll(session, id, parts.sensors);
    await actuators.insertAll(session, id, parts.actuators);
    return 'inserted';
  },
  async updateDevice(
    session: SqlSession,
    id: string,
    changes: ResourcePatch,
    at: number,
  ): Promise<'updated' | 'missing'> {
    const row = await patched(session, id, changes);
    if (row === undefined) return 'missing';
    const { owner, visibility, details } = row;
    const { gateway_id, domain } = searchColumns(details);
    await session.run(changeDevice, owner, visibility, gateway_id, domain, details, at, id);
    return 'updated';
  },
  async addStrangerBytes(
    session: SqlSession,
    ids: readonly string[],
    added: readonly number[],
  ): Promise<void> {
    await session.run(addStrangers, ids, added);
  },
  removeDevice: removalOf('device'),
  putSensor: sensors.put,
  updateSensor: sensors.update,
  removeSensor: sensors.remove,
  putActuator: actuators.put,
  updateActuator: actuators.update,
  /** Takes the step as JSON text, as its value may have digits that no double holds. */
  stepActuator(session: SqlSession, deviceId: string, actuatorId: string, stepText: string) {
    // Written from a step by the store.
    const step = parseJson(stepText) as ActuatorStep;
    const replacement = (details: string): string | undefined => {
      const after = actuatorAfter(actuatorFromRow({ id: actuatorId, details }), step);
      return after && partDetails(after);
    };
    const at = step.kind === 'confirm' ? undefined : step.at;
    return actuators.replace(session, deviceId, actuatorId, replacement, at);
  },
  removeActuator: actuators.remove,
};
