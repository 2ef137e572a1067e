import { randomBytes } from 'node:crypto';
import type { InstallationStore, KeptSettings } from '../../domain/installation-store.ts';

/** The secret and settings of the installation, in memory: new at each start. */
export function createInstallationStore(): InstallationStore {
  const secret = randomBytes(32).toString('hex');
  let kept: KeptSettings = {};
  return {
    secret: async () => secret,
    lastBackupAt: async () => undefined,
    settings: async () => kept,
    async changeSettings({ signUp }) {
      if (signUp === null) kept = {};
      else if (signUp !== undefined) kept = { signUp };
    },
  };
}
