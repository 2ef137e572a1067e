import type { InstallationStore, KeptSettings } from '../../domain/installation-store.ts';
import type { SqlContext, Writes } from './session.ts';

const selectSettings = 'select name, value from installation_settings';
const putSetting = `
  insert into installation_settings (name, value) values ($1, $2)
  on conflict (name) do update set value = excluded.value`;
const deleteSetting = 'delete from installation_settings where name = $1';

/** Changes of the settings of the installation. */
export const installationWrites = {
  async changeSetting(session, name: keyof KeptSettings, value: string | null) {
    if (value === null) await session.run(deleteSetting, name);
    else await session.run(putSetting, name, value);
  },
} satisfies Writes;

/** Settings in the tables of either engine, beside what each engine has `own`. */
export const createInstallationStore = (
  { reader, write }: SqlContext<typeof installationWrites>,
  own: Pick<InstallationStore, 'secret' | 'lastBackupAt'>,
): InstallationStore => ({
  ...own,
  async settings() {
    const rows = await reader.all<{ name: string; value: string }>(selectSettings);
    const signUp = new Map(rows.map(({ name, value }) => [name, value])).get('signUp');
    return signUp === 'open' || signUp === 'closed' ? { signUp } : {};
  },
  async changeSettings({ signUp }) {
    if (signUp !== undefined) await write('changeSetting', 'signUp', signUp);
  },
});
