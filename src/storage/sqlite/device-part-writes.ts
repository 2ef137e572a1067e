import type { DatabaseSync } from 'node:sqlite';
import type { PartRow } from '../sql/device-row.ts';
import { applyPatch, type Patch, withKept } from '../sql/patch.ts';
import { createSelection } from './selection.ts';

/** Which of the two tables of a device's parts. */
export interface PartTable {
  readonly table: 'sensors' | 'actuators';
  readonly key: 'sensor_id' | 'actuator_id';
  readonly countMax: number;
  /** Fields that stay when a new description does not speak of the first one. */
  readonly keeps?: readonly string[];
  /** Sets when the device was modified last. */
  readonly markModified: (deviceId: string, at: number) => void;
}

/** The changes that the writer thread makes to sensors or actuators, alike for both tables. */
export function createPartWrites(
  database: DatabaseSync,
  { table, key, countMax, keeps, markModified }: PartTable,
) {
  const isOne = `device_id = ? and ${key} = ?`;
  const deviceExists = createSelection(database, 'select 1 as found from devices where id = ?');
  const stored = createSelection<{ details: string }>(
    database,
    `select details from ${table} where ${isOne}`,
  );
  const count = createSelection<{ n: number }>(
    database,
    `select count(*) as n from ${table} where device_id = ?`,
  );
  // Replacing keeps the row, and with it the place in the list and what is kept under its number.
  const upsert = database.prepare(`
    insert into ${table} (device_id, ${key}, details) values (?, ?, ?)
    on conflict (device_id, ${key}) do update set details = excluded.details`);
  const updateDetails = database.prepare(`update ${table} set details = ? where ${isOne}`);
  const deleteOne = database.prepare(`delete from ${table} where ${isOne}`);

  return {
    /** Adds or replaces without asking. */
    write(deviceId: string, part: PartRow): void {
      upsert.run(deviceId, part.id, part.details);
    },
    put(deviceId: string, part: PartRow, at: number): 'put' | 'missing' | 'too_many' {
      if (deviceExists.first(deviceId) === undefined) return 'missing';
      const before = stored.first(deviceId, part.id);
      if (before === undefined && (count.first(deviceId)?.n ?? 0) >= countMax) return 'too_many';
      const details =
        before === undefined || keeps === undefined
          ? part.details
          : withKept(part.details, before.details, keeps);
      upsert.run(deviceId, part.id, details);
      markModified(deviceId, at);
      return 'put';
    },
    update(deviceId: string, partId: string, patch: Patch, at: number): 'updated' | 'missing' {
      const details = stored.first(deviceId, partId)?.details;
      if (details === undefined) return 'missing';
      updateDetails.run(applyPatch(details, patch), deviceId, partId);
      markModified(deviceId, at);
      return 'updated';
    },
    /** Replaces the details by what is made of them; undefined leaves them as they are. */
    replace(
      deviceId: string,
      partId: string,
      replacement: (details: string) => string | undefined,
      at: number | undefined,
    ): { readonly details: string } | 'missing' | 'unchanged' {
      const before = stored.first(deviceId, partId)?.details;
      if (before === undefined) return 'missing';
      const details = replacement(before);
      if (details === undefined) return 'unchanged';
      updateDetails.run(details, deviceId, partId);
      if (at !== undefined) markModified(deviceId, at);
      return { details };
    },
    remove(deviceId: string, partId: string, at: number): 'removed' | 'missing' {
      if (deleteOne.run(deviceId, partId).changes === 0) return 'missing';
      markModified(deviceId, at);
      return 'removed';
    },
  };
}
