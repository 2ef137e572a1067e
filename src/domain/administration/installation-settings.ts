import type { Actor } from '../actor.ts';
import type { ChangeFeed } from '../changes.ts';
import type { InstallationStore, KeptSettings } from '../installation-store.ts';
import { requireAdmin } from '../users/account-access.ts';

/** Whether strangers may make accounts. */
export type SignUp = 'open' | 'closed';

/** Settings that hold, and where they come from. */
export interface EffectiveSettings {
  readonly signUp: SignUp;
  /** Origin of the value: the configuration, or an administrator at run time. */
  readonly signUpFrom: 'configuration' | 'administrator';
  /** Value that holds while administrators set none. */
  readonly signUpDefault: SignUp;
}

/** Settings that administrators change at run time; the configuration has the defaults. */
export interface InstallationSettings {
  /** Takes over what is kept. Before the ports are opened. */
  load(): Promise<void>;
  /** Settings that hold now, at hand because every page and every sign-up asks for them. */
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
