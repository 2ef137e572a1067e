import type { OwnedGroupGrant } from '../../domain/access/grant.ts';
import type { ResourceKind } from '../../domain/access/scopes.ts';
import type { Group } from '../../domain/groups/group.ts';
import type { GroupId, Username } from '../../domain/ids.ts';
import { detailsFrom } from './details.ts';
import { scopesFromText } from './grant-row.ts';

/** A row of the table user_groups. */
export interface GroupRow {
  readonly id: string;
  readonly owner: string;
  readonly details: string;
}

/** The columns of GroupRow. */
export const groupColumns = 'id, owner, details';

/** A grant of a group, with what is shown of both ends. */
export interface GroupGrantRow {
  readonly kind: string;
  readonly resource: string;
  readonly group_id: string;
  readonly scopes: string;
  readonly details: string;
  readonly owner: string;
}

/** JSON escapes what SQLite's text cannot hold. */
export const groupDetails = (name: string): string => JSON.stringify({ name });

function nameIn(details: string): string {
  return detailsFrom<{ readonly name: string }>(details).name;
}

export function groupFromRow(row: GroupRow, usernames: readonly string[]): Group {
  return {
    // Rows hold what parsed names were written from.
    id: row.id as GroupId,
    owner: row.owner as Username,
    name: nameIn(row.details),
    usernames: usernames as readonly Username[],
  };
}

export function groupGrantFromRow(row: GroupGrantRow): OwnedGroupGrant {
  return {
    // Rows hold what parsed names were written from.
    kind: row.kind as ResourceKind,
    resource: row.resource,
    groupId: row.group_id as GroupId,
    scopes: scopesFromText(row.scopes),
    groupName: nameIn(row.details),
    owner: row.owner as Username,
  };
}
