import type { Instant } from '../lib/clock.ts';

/** Settings that administrators changed at run time; absent: as the configuration says. */
export interface KeptSettings {
  readonly signUp?: 'open' | 'closed';
}

/** Data of the installation itself, whatever its accounts. */
export interface InstallationStore {
  /**
   * The installation's own secret, 256 random bits as hexadecimal digits, made when it is asked for
   * the first time. Throws when what is kept is none: a known or empty secret is no secret.
   */
  secret(): Promise<string>;
  /** When a backup of it was last finished; undefined: never, or the engine knows of none. */
  lastBackupAt(): Promise<Instant | undefined>;
  /** Settings as kept; a value that cannot be understood counts as absent. */
  settings(): Promise<KeptSettings>;
  /** Keeps these and leaves the others; null takes one away. */
  changeSettings(
    changes: {
      readonly [Name in keyof KeptSettings]: KeptSettings[Name] | null;
    },
  ): Promise<void>;
}
