import type { SQLInputValue } from 'node:sqlite';
import type { ResourceKind } from '../../domain/access/scopes.ts';
import type { VisibleTo } from '../../domain/access/viewer.ts';
import { guestUsername } from '../../domain/ids.ts';
import { reachingSql } from './reaching-grants.ts';
import type { Selection } from './selection.ts';

/** A part of a where clause and what its question marks stand for. */
export interface Condition {
  readonly sql: string;
  readonly parameters: readonly SQLInputValue[];
}

/** The rows that a list may show, of the table that keeps this kind. */
export function visibleRows(
  kind: ResourceKind,
  { who, only, madeBy }: VisibleTo,
): readonly Condition[] {
  const conditions: Condition[] = [];
  if (only !== undefined) conditions.push({ sql: oneOfThese, parameters: [listOf(only)] });
  if (kind === 'device' && madeBy !== undefined && typeof who !== 'string') {
    conditions.push({ sql: '(created_at <= ? or owner = ?)', parameters: [madeBy, who.username] });
  }
  const isPublic = kind === 'project' ? 'false' : `visibility is not 'private'`;
  if (who === 'public') {
    conditions.push({ sql: `(${isPublic} or owner = ?)`, parameters: [guestUsername] });
  } else if (who !== 'everything' && who.reached !== undefined) {
    conditions.push({
      sql: `(${isPublic} or owner in (?, ?) or ${oneOfThese})`,
      parameters: [guestUsername, who.username, listOf(who.reached)],
    });
  } else if (who !== 'everything') {
    const reaching = reachingSql(kind, '?');
    const mentions = reaching.split('?').length - 1;
    conditions.push({
      sql: `(${isPublic} or owner in (?, ?) or id in (select resource from (${reaching})))`,
      parameters: [guestUsername, who.username, ...Array(mentions).fill(who.username)],
    });
  }
  return conditions;
}

const oneOfThese = 'id in (select value from json_each(?))';

/** Ids as a JSON array; a search asks for the same ones in each of its slices. */
const lists = new WeakMap<ReadonlySet<string>, string>();

function listOf(ids: ReadonlySet<string>): string {
  const known = lists.get(ids);
  if (known !== undefined) return known;
  const list = JSON.stringify([...ids]);
  lists.set(ids, list);
  return list;
}

/** One condition that holds where all of these do. */
export function allOf(conditions: readonly Condition[]): Condition {
  return {
    sql: ['true', ...conditions.map(({ sql }) => sql)].join(' and '),
    parameters: conditions.flatMap(({ parameters }) => parameters),
  };
}

/**
 * Remembers the statement made for each where clause. There are few of them: visibility in three
 * ways, with or without a list of ids, and the columns of a filter.
 */
export function once<Row>(
  create: (where: string) => Selection<Row>,
): (where: string) => Selection<Row> {
  const made = new Map<string, Selection<Row>>();
  return (where) => {
    const known = made.get(where);
    if (known !== undefined) return known;
    const selection = create(where);
    made.set(where, selection);
    return selection;
  };
}
