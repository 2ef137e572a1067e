import type { CredentialStore } from '../domain/users/credential-store.ts';
import type { UserStore } from '../domain/users/user.ts';

/** The accounts of an installation, for commands; a service may run on it meanwhile. */
export interface AccountStorage {
  readonly users: UserStore;
  readonly credentials: CredentialStore;
  close(): Promise<void>;
}
