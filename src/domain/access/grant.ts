import type { Username } from '../ids.ts';
import type { ResourceKind, Scope } from './scopes.ts';

/** The record that an owner gave rights on one resource to a user. */
export interface Grant {
  readonly kind: ResourceKind;
  readonly resource: string;
  readonly username: Username;
  /** In the order of `scopesOf`, never empty. */
  readonly scopes: readonly Scope[];
}

/** A grant with the owner of what it is about. */
export interface OwnedGrant extends Grant {
  readonly owner: Username;
}
