import { settingFields } from '../../domain/devices/actuator-step.ts';
import { limits } from '../../domain/limits.ts';
import type { PartRow } from './device-row.ts';
import { applyPatch, type Patch, withKept } from './patch.ts';
import type { Count, SqlSession } from './session.ts';

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
  // Replacing keeps the row, and with it the place in the list and what is kept under its number.
  const upsert = `
    insert into ${table} (bucket, device_id, ${key}, details)
    select bucket, id, value, value2 from devices, each($2, $3)
    where id = $1 order by given.key
    on conflict (device_id, ${key}) do update set details = excluded.details`;
  const updateDetails = `update ${table} set details = $3 where ${isOne}`;
  const deleteOne = `delete from ${table} where ${isOne}`;

  async function detailsOf(session: SqlSession, deviceId: string, partId: string) {
    const row = await session.first<{ details: string }>(selectDetails, deviceId, partId);
    return row?.details;
  }

  return {
    /** Adds without asking; of those with one id the last one counts, in the place of the first. */
    async insertAll(
      session: SqlSession,
      deviceId: string,
      parts: readonly PartRow[],
    ): Promise<void> {
      if (parts.length === 0) return;
      const last = new Map(parts.map(({ id, details }) => [id, details]));
      await session.run(upsert, deviceId, [...last.keys()], [...last.values()]);
    },
    async put(
      session: SqlSession,
      deviceId: string,
      part: PartRow,
      at: number,
    ): Promise<'put' | 'missing' | 'too_many'> {
      const held = await session.first<Count>(countOfDevice, deviceId);
      if (held === undefined) return 'missing';
      const before = await detailsOf(session, deviceId, part.id);
      if (before === undefined && held.n >= limits.sensorsPerDeviceMax) return 'too_many';
      const details =
        before === undefined || keeps === undefined
          ? part.details
          : withKept(part.details, before, keeps);
      await session.run(upsert, deviceId, [part.id], [details]);
      await session.run(touchDevice, at, deviceId);
      return 'put';
    },
    async update(
      session: SqlSession,
      deviceId: string,
      partId: string,
      patch: Patch,
      at: number,
    ): Promise<'updated' | 'missing'> {
      const details = await detailsOf(session, deviceId, partId);
      if (details === undefined) return 'missing';
      await session.run(updateDetails, deviceId, partId, applyPatch(details, patch));
      await session.run(touchDevice, at, deviceId);
      return 'updated';
    },
    /** Replaces the details by what is made of them; undefined leaves them as they are. */
    async replace(
      session: SqlSession,
      deviceId: string,
      partId: string,
      replacement: (details: string) => string | undefined,
      at: number | undefined,
    ): Promise<{ readonly details: string } | 'missing' | 'unchanged'> {
      const before = await detailsOf(session, deviceId, partId);
      if (before === undefined) return 'missing';
      const details = replacement(before);
      if (details === undefined) return 'unchanged';
      await session.run(updateDetails, deviceId, partId, details);
      if (at !== undefined) await session.run(touchDevice, at, deviceId);
      return { details };
    },
    async remove(
      session: SqlSession,
      deviceId: string,
      partId: string,
      at: number,
    ): Promise<'removed' | 'missing'> {
      if ((await session.run(deleteOne, deviceId, partId)) === 0) return 'missing';
      await session.run(touchDevice, at, deviceId);
      return 'removed';
    },
  };
}

export const sensors = createPartWrites({ table: 'sensors', key: 'sensor_id' });
export const actuators = createPartWrites({
  table: 'actuators',
  key: 'actuator_id',
  keeps: settingFields,
});
