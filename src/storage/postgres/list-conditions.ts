import type { ResourceKind } from '../../domain/access/scopes.ts';
import type { VisibleTo } from '../../domain/access/viewer.ts';
import { guestUsername } from '../../domain/ids.ts';
import type { Value } from './connection.ts';
import { reachingSql } from './reaching-grants.ts';

/** A part of a where clause, in which `?` stands for each of its values in turn. */
export interface Condition {
  readonly sql: string;
  readonly values: readonly Value[];
}

/** The rows that a list may show, of the table that keeps this kind. */
export function visibleRows(
  kind: ResourceKind,
  { who, only, madeBy }: VisibleTo,
): readonly Condition[] {
  const conditions: Condition[] = [];
  if (only !== undefined) {
    conditions.push({ sql: 'id = any(?::text[])', values: [[...only]] });
  }
  if (kind === 'device' && madeBy !== undefined && typeof who !== 'string') {
    conditions.push({
      sql: '(created_at <= ? or nocase(owner) = nocase(?))',
      values: [madeBy, who.username],
    });
  }
  const isPublic = kind === 'project' ? 'false' : `visibility is distinct from 'private'`;
  const isOwners = 'nocase(owner) = nocase(?)';
  if (who === 'public') {
    conditions.push({ sql: `(${isPublic} or ${isOwners})`, values: [guestUsername] });
  } else if (who !== 'everything') {
    const reaching = reachingSql(kind, '?');
    const mentions = reaching.split('?').length - 1;
    conditions.push({
      sql: `(${isPublic} or ${isOwners} or ${isOwners}
        or id in (select resource from (${reaching}) as reaching))`,
      values: [guestUsername, who.username, ...Array<Value>(mentions).fill(who.username)],
    });
  }
  return conditions;
}

/** One condition that holds where all of these do. */
export function allOf(conditions: readonly Condition[]): Condition {
  return {
    sql: ['true', ...conditions.map(({ sql }) => sql)].join(' and '),
    values: conditions.flatMap(({ values }) => values),
  };
}

/** The statement with its question marks numbered. */
export function numbered(sql: string): string {
  let last = 0;
  return sql.replaceAll('?', () => {
    last += 1;
    return `$${last}`;
  });
}
