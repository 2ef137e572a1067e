import type { Actor } from '../actor.ts';
import type { ChangeFeed } from '../changes.ts';
import type { InstallationStore, KeptSettings } from '../installation-store.ts';
import { requireAdmin } from '../users/account-access.ts';

/** Whether strangers may make accounts. */
export type SignUp = 'open' | 'closed';

/** What holds, and where it comes from. */
export interface EffectiveSettings {
  readonly signUp: SignUp;
  /** Who says so: the configuration, or an administrator at run time. */
  readonly signUpFrom: 'configuration' | 'administrator';
  /** What holds when no administrator says anything. */
  readonly signUpDefault: SignUp;
}

/** What administrators change while the service runs; the configuration has the defaults. */
export interface InstallationSettings {
  /** Takes over what is kept. Before the ports are opened. */
  load(): Promise<void>;
  /** What holds now; asked for at every page and every sign-up, so it is at hand. */
  current(): EffectiveSettings;
  /** Throws forbidden unless an admin asks. */
  read(actor: Actor): EffectiveSettings;
  /** Keeps these; null: the configuration holds again. Throws forbidden unless an admin asks. */
  change(actor: Actor, changes: SettingsChange): Promise<void>;
}

export interface SettingsChange {
  readonly signUp?: SignUp | null;
}

export function createInstallationSettings(options: {
  readonly installation: Pick<InstallationStore, 'settings' | 'changeSettings'>;
  readonly changes: Pick<ChangeFeed, 'onChange'>;
  readonly signUpDefault: SignUp;
}): InstallationSettings {
  const { installation, changes, signUpDefault } = options;
  let kept: KeptSettings = {};
  const load = async (): Promise<void> => {
    kept = await installation.settings();
  };
  // Another process on the same database may have changed them.
  changes.onChange(async ({ kind }) => {
    if (kind === 'settings_changed' || kind === 'anything') await load();
  });
  const current = (): EffectiveSettings => ({
    signUp: kept.signUp ?? signUpDefault,
    signUpFrom: kept.signUp === undefined ? 'configuration' : 'administrator',
    signUpDefault,
  });
  return {
    load,
    current,
    read(actor) {
      requireAdmin(actor);
      return current();
    },
    async change(actor, { signUp }) {
      requireAdmin(actor);
      if (signUp !== undefined) await installation.changeSettings({ signUp });
    },
  };
}
