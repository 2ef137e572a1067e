import { randomBytes } from 'node:crypto';
import type { InstallationStore } from '../../domain/installation-store.ts';
import type { StoreContext } from './store-context.ts';

const selectSettings = 'select name, value from installation_settings';
const putSetting = `
  insert into installation_settings (name, value) values ($1, $2)
  on conflict (name) do update set value = excluded.value`;
const deleteSetting = 'delete from installation_settings where name = $1';
const makeSecret = `
  insert into secrets (name, value) values ('installation', $1) on conflict do nothing`;
const selectSecret = `select value from secrets where name = 'installation'`;
const secretPattern = /^[0-9a-f]{64}$/;

/** The installation's settings and secret in PostgreSQL. Backups are the database's own affair. */
export function createInstallationStore({ reader, writer }: StoreContext): InstallationStore {
  return {
    secret: () =>
      writer.call(async (tx) => {
        await tx.run(makeSecret, randomBytes(32).toString('hex'));
        const secret = (await tx.first<{ value: string }>(selectSecret))?.value ?? '';
        if (secretPattern.test(secret)) return secret;
        throw new Error(
          'the secret of the installation in the table secrets is damaged: restore a backup, or ' +
            'delete its row to make a new one',
        );
      }),
    lastBackupAt: async () => undefined,
    async settings() {
      const rows = await reader.all<{ name: string; value: string }>(selectSettings);
      const signUp = new Map(rows.map(({ name, value }) => [name, value])).get('signUp');
      return signUp === 'open' || signUp === 'closed' ? { signUp } : {};
    },
    async changeSettings({ signUp }) {
      if (signUp === undefined) return;
      await writer.call((tx) =>
        signUp === null ? tx.run(deleteSetting, 'signUp') : tx.run(putSetting, 'signUp', signUp),
      );
    },
  };
}
