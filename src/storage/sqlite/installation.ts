import type { InstallationStore } from '../../domain/installation-store.ts';
import { lastBackupOf } from './backup-mark.ts';
import { readSafely } from './failures.ts';
import { ensureInstallationSecret } from './installation-secret.ts';
import { createSelection } from './selection.ts';
import type { StoreContext } from './store-context.ts';

const selectSettings = 'select name, value from installation_settings';

/** The secret of the installation, beside the database, and its settings, inside it. */
export function createInstallationStore(
  { reader, writer }: StoreContext,
  directory: string,
): InstallationStore {
  const rows = createSelection<{ name: string; value: string }>(reader, selectSettings);
  return {
    secret: async () => ensureInstallationSecret(directory),
    lastBackupAt: () => lastBackupOf(directory),
    settings: () =>
      readSafely(() => {
        const values = new Map(rows.all().map(({ name, value }) => [name, value]));
        const signUp = values.get('signUp');
        return signUp === 'open' || signUp === 'closed' ? { signUp } : {};
      }),
    async changeSettings({ signUp }) {
      if (signUp !== undefined) await writer.call('changeSetting', 'signUp', signUp);
    },
  };
}
