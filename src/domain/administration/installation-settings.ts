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

export interface SettingsChange {
  readonly signUp?: SignUp | null;
}

/** Settings that administrators change at run time; the configuration has the defaults. */
export function createInstallationSettings(options: {
  readonly installation: Pick<InstallationStore, 'settings' | 'changeSettings'>;
  readonly changes: Pick<ChangeFeed, 'onChange'>;
  readonly signUpDefault: SignUp;
}) {
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
    /** Takes over what is kept. Before the ports are opened. */
    load,
    /** Settings that hold now, at hand because every page and every sign-up asks for them. */
    current,
    /** Throws forbidden unless an admin asks. */
    read(actor: Actor): EffectiveSettings {
      requireAdmin(actor);
      return current();
    },
    /** Keeps these; null: the configuration holds again. Throws forbidden unless an admin asks. */
    async change(actor: Actor, { signUp }: SettingsChange): Promise<void> {
      requireAdmin(actor);
      if (signUp !== undefined) await installation.changeSettings({ signUp });
    },
  };
}
export type InstallationSettings = ReturnType<typeof createInstallationSettings>;
