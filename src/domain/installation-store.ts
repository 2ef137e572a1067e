import type { Instant } from '../lib/clock.ts';

/** What administrators changed at run time; what is absent is as the configuration says. */
export interface KeptSettings {
  readonly signUp?: 'open' | 'closed';
}

/** What belongs to the installation, whatever its accounts. */
export interface InstallationStore {
  /**
   * The installation's own secret, 256 random bits as hexadecimal digits, made when it is asked for
   * the first time. Throws when what is kept is none: a known or empty secret is no secret.
   */
  secret(): Promise<string>;
  /** When a backup of it was last finished; undefined: never, or the engine knows of none. */
  lastBackupAt(): Promise<Instant | undefined>;
  /** What is kept; what cannot be understood counts as absent. */
  settings(): Promise<KeptSettings>;
  /** Keeps these and leaves the others; null takes one away. */
  changeSettings(
    changes: {
      readonly [Name in keyof KeptSettings]: KeptSettings[Name] | null;
    },
  ): Promise<void>;
}
