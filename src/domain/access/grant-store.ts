import type { Username } from '../ids.ts';
import type { Grant, OwnedGrant } from './grant.ts';
import type { ResourceKind, Scope } from './scopes.ts';

/** Where grants are kept. Their stores delete the grants of a resource or account that goes. */
export interface GrantStore {
  /**
   * Sets what `username` may do with the resource, replacing what was granted before. missing: the
   * resource or the account does not exist, and nothing is kept that could come to life with them.
   */
  put(grant: Grant): Promise<'put' | 'missing'>;
  remove(kind: ResourceKind, resource: string, username: Username): Promise<'removed' | 'missing'>;
  /**
   * What `username` was granted on the resource; empty when nothing. Answers at once where it can:
   * every delivery to a grantee asks.
   */
  find(
    kind: ResourceKind,
    resource: string,
    username: Username,
  ): readonly Scope[] | Promise<readonly Scope[]>;
  /** All grants on a resource, by username. */
  listOn(kind: ResourceKind, resource: string): Promise<readonly Grant[]>;
  /** All grants on resources that `owner` owns now, by kind, resource, username. */
  listGivenBy(owner: Username): Promise<readonly OwnedGrant[]>;
  /** All grants `username` holds, by kind and resource. */
  listReceivedBy(username: Username): Promise<readonly OwnedGrant[]>;
}
