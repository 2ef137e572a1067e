import { type ActuatorStep, actuatorAfter, settingFields } from '../../domain/devices/actuator.ts';
import { limits } from '../../domain/limits.ts';
import { parseJson } from '../../lib/json.ts';
import {
  actuatorFromRow,
  bucketOf,
  type DeviceRows,
  deviceTable,
  type PartRow,
  partDetails,
  searchColumns,
} from './device-row.ts';
import { applyPatch, type Patch, type ResourcePatch, withKept } from './patch.ts';
import { patchingOf, removalOf } from './resources.ts';
import type { Count, SqlSession, Writes } from './session.ts';

/** Which of the two tables of a device's parts. */
interface PartTable {
  readonly table: 'sensors' | 'actuators';
  readonly key: 'sensor_id' | 'actuator_id';
  /** Fields that stay when a new description does not speak of the first one. */
  readonly keeps?: readonly string[];
}

const touchDevice = 'update devices set modified_at = $1 where id = $2';

/** The changes of sensors or of actuators: the same for two tables. */
function createPartWrites({ table, key, keeps }: PartTable) {
  const isOne = `device_id = $1 and ${key} = $2`;
  const selectDetails = `select details from ${table} where ${isOne}`;
  const countOfDevice = `
    select (select count(*) from ${table} where device_id = $1) as n from devices where id = $1`;
  const insert = `
    insert into ${table} (bucket, device_id, ${key}, details)
    select bucket, id, value, value2 from devices, each($2, $3)
    where id = $1 order by given.key`;
  const updateDetails = `update ${table} set details = $3 where ${isOne}`;
  const deleteOne = `delete from ${table} where ${isOne}`;

  async function detailsOf(session: SqlSession, deviceId: string, partId: string) {
    const row = await session.first<{ details: string }>(selectDetails, deviceId, partId);
    return row?.details;
  }

  return {
    /** Adds without asking; of those with one id the last one counts, in the place of the first. */
    async insertAll(session, deviceId: string, parts: readonly PartRow[]) {
      if (parts.length === 0) return;
      const last = new Map(parts.map(({ id, details }) => [id, details]));
      await session.run(insert, deviceId, [...last.keys()], [...last.values()]);
    },
    async put(session, deviceId: string, part: PartRow, at: number) {
      const held = await session.first<Count>(countOfDevice, deviceId);
      if (held === undefined) return 'missing';
      const before = await detailsOf(session, deviceId, part.id);
      if (before === undefined && held.n >= limits.sensorsPerDeviceMax) return 'too_many';
      const details =
        before === undefined || keeps === undefined
          ? part.details
          : withKept(part.details, before, keeps);
      // Replacing keeps the row, and with it its place in the list and what its number is for.
      if (before !== undefined) await session.run(updateDetails, deviceId, part.id, details);
      else await session.run(insert, deviceId, [part.id], [details]);
      await session.run(touchDevice, at, deviceId);
      return 'put';
    },
    async update(session, deviceId: string, partId: string, patch: Patch, at: number) {
      const details = await detailsOf(session, deviceId, partId);
      if (details === undefined) return 'missing';
      await session.run(updateDetails, deviceId, partId, applyPatch(details, patch));
      await session.run(touchDevice, at, deviceId);
      return 'updated';
    },
    /** Replaces the details by what is made of them; undefined leaves them as they are. */
    async replace(
      session,
      deviceId: string,
      partId: string,
      replacement: (details: string) => string | undefined,
      at: number | undefined,
    ) {
      const before = await detailsOf(session, deviceId, partId);
      if (before === undefined) return 'missing';
      const details = replacement(before);
      if (details === undefined) return 'unchanged';
      await session.run(updateDetails, deviceId, partId, details);
      if (at !== undefined) await session.run(touchDevice, at, deviceId);
      return { details };
    },
    async remove(session, deviceId: string, partId: string, at: number) {
      if ((await session.run(deleteOne, deviceId, partId)) === 0) return 'missing';
      await session.run(touchDevice, at, deviceId);
      return 'removed';
    },
  } satisfies Writes;
}

const sensors = createPartWrites({ table: 'sensors', key: 'sensor_id' });
const actuators = createPartWrites({
  table: 'actuators',
  key: 'actuator_id',
  keeps: settingFields,
});

const insertDevice = `
  insert into devices (bucket, ${deviceTable.columns}, gateway_id, domain)
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
  async insertDevice(session, { row, ...parts }: DeviceRows) {
    const { id } = row;
    const { gateway_id, domain } = searchColumns(row.details);
    const columns = [...Object.values(row), gateway_id, domain];
    if ((await session.run(insertDevice, bucketOf(id), ...columns)) === 0) return 'duplicate';
    await sensors.insertAll(session, id, parts.sensors);
    await actuators.insertAll(session, id, parts.actuators);
    return 'inserted';
  },
  async updateDevice(session, id: string, changes: ResourcePatch, at: number) {
    const row = await patched(session, id, changes);
    if (row === undefined) return 'missing';
    const { owner, visibility, details } = row;
    const { gateway_id, domain } = searchColumns(details);
    await session.run(changeDevice, owner, visibility, gateway_id, domain, details, at, id);
    return 'updated';
  },
  async addStrangerBytes(session, ids: readonly string[], added: readonly number[]) {
    await session.run(addStrangers, ids, added);
  },
  removeDevice: removalOf('device'),
  putSensor: sensors.put,
  updateSensor: sensors.update,
  removeSensor: sensors.remove,
  putActuator: actuators.put,
  updateActuator: actuators.update,
  /** Takes the step as JSON text, as its value may have digits that no double holds. */
  stepActuator(session, deviceId: string, actuatorId: string, stepText: string) {
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
} satisfies Writes;
