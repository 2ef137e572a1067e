import type { Instant } from '../lib/clock.ts';

/** What belongs to the installation, whatever its accounts. */
export interface InstallationStore {
  /**
   * The installation's own secret, 256 random bits as hexadecimal digits, made when it is asked for
   * the first time. Throws when what is kept is none: a known or empty secret is no secret.
   */
  secret(): Promise<string>;
  /** When a backup of it was last finished; undefined: never, or the engine knows of none. */
  lastBackupAt(): Promise<Instant | undefined>;
}
