import type { DatabaseSync } from 'node:sqlite';
import type { KeptSettings } from '../../domain/installation-store.ts';

const putSetting = 'insert or replace into installation_settings (name, value) values (?, ?)';
const deleteSetting = 'delete from installation_settings where name = ?';

/** The changes that the writer thread makes to settings of the installation. */
export function createInstallationWrites(database: DatabaseSync) {
  const put = database.prepare(putSetting);
  const remove = database.prepare(deleteSetting);
  return {
    changeSetting(name: keyof KeptSettings, value: string | null): void {
      if (value === null) remove.run(name);
      else put.run(name, value);
    },
  };
}
