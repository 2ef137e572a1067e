import type { Grant, OwnedGrant } from '../../domain/access/grant.ts';
import type { ResourceKind, Scope } from '../../domain/access/scopes.ts';
import type { Username } from '../../domain/ids.ts';
import { textsFrom } from './details.ts';

/** A row of the table grants. */
export interface GrantRow {
  readonly kind: string;
  readonly resource: string;
  readonly username: string;
  readonly scopes: string;
}

/** The scopes kept as a JSON array. */
export function scopesFromText(text: string): readonly Scope[] {
  return textsFrom(text) as readonly Scope[];
}

export function grantFromRow(row: GrantRow): Grant {
  return {
    // Rows hold what parsed names were written from.
    kind: row.kind as ResourceKind,
    resource: row.resource,
    username: row.username as Username,
    scopes: scopesFromText(row.scopes),
  };
}

export function ownedGrantFromRow(row: GrantRow & { readonly owner: string }): OwnedGrant {
  return { ...grantFromRow(row), owner: row.owner as Username };
}
