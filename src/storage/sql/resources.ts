import type { ResourceKind } from '../../domain/access/scopes.ts';
import type { VisibleTo } from '../../domain/access/viewer.ts';
import { guestUsername } from '../../domain/ids.ts';
import { applyPatch, type ResourcePatch } from './patch.ts';
import { reachingSql } from './reaching-grants.ts';
import {
  countRows,
  deletion,
  readPage,
  type SqlReader,
  type SqlSession,
  type Value,
} from './session.ts';

/** Columns of a device or gateway that a change of it concerns. */
interface StoredResource {
  readonly owner: string;
  readonly visibility: string | null;
  readonly details: string;
}

const deleteGrants = (kind: ResourceKind): readonly string[] =>
  ['grants', 'group_grants'].map(
    (table) => `delete from ${table} where kind = '${kind}' and resource = $1`,
  );

/** Removes a device, gateway or project with its grants. */
export const removalOf = (kind: ResourceKind) =>
  deletion(...deleteGrants(kind), `delete from ${kind}s where id = $1`);

/** Makes the patch of a device or gateway; grants on it end with another owner. */
export const patchingOf = (kind: 'device' | 'gateway') => {
  const select = `select owner, visibility, details from ${kind}s where id = $1`;
  const ended = deleteGrants(kind);
  return async (
    session: SqlSession,
    id: string,
    changes: ResourcePatch,
  ): Promise<StoredResource | undefined> => {
    const stored = await session.first<StoredResource>(select, id);
    if (stored === undefined) return undefined;
    const { owner = stored.owner, visibility = stored.visibility } = changes;
    if (owner.toLowerCase() !== stored.owner.toLowerCase()) {
      for (const sql of ended) await session.run(sql, id);
    }
    return { owner, visibility, details: applyPatch(stored.details, changes.details) };
  };
};

/** Counts what an account owns of a table. */
export const countingOwned =
  (reader: SqlReader, table: string) =>
  (owner: string): Promise<number> =>
    countRows(reader, `${table} where nocase(owner) = nocase($1)`, owner);

/** Lists devices, gateways or projects in order of creation, with these columns. */
export const listing =
  <Row>(reader: SqlReader, kind: ResourceKind, columns: string) =>
  ({ visibleTo, ...page }: { visibleTo: VisibleTo; limit: number; offset: number }) => {
    const { sql, values } = allOf(visibleRows(kind, visibleTo));
    const from = numbered(`${kind}s where ${sql}`);
    return reader.inSnapshot((session) => readPage<Row>(session, { columns, from }, values, page));
  };

/** A condition of a where clause, with one `?` for each of its values, in their order. */
export interface Condition {
  readonly sql: string;
  readonly values: readonly Value[];
}

const isOwners = 'nocase(owner) = nocase(?)';
const oneOfThese = 'id in (select value from each(?))';

/** The rows that a list may show, of the table that keeps this kind. */
export function visibleRows(
  kind: ResourceKind,
  { who, only, madeBy }: VisibleTo,
): readonly Condition[] {
  const conditions: Condition[] = [];
  if (only !== undefined) conditions.push({ sql: oneOfThese, values: [listOf(only)] });
  if (kind === 'device' && madeBy !== undefined && typeof who !== 'string') {
    const sql = `(created_at <= ? or ${isOwners})`;
    conditions.push({ sql, values: [madeBy, who.username] });
  }
  const isPublic = kind === 'project' ? 'false' : `visibility is distinct from 'private'`;
  if (who === 'public') {
    conditions.push({ sql: `(${isPublic} or ${isOwners})`, values: [guestUsername] });
  } else if (who !== 'everything') {
    const { username, reached } = who;
    const reaching = reachingSql(kind, '?');
    const mentions = reaching.split('?').length - 1;
    const isReached =
      reached === undefined
        ? {
            sql: `id in (select resource from (${reaching}) as reaching)`,
            values: Array<Value>(mentions).fill(username),
          }
        : { sql: oneOfThese, values: [listOf(reached)] };
    conditions.push({
      sql: `(${isPublic} or ${isOwners} or ${isOwners} or ${isReached.sql})`,
      values: [guestUsername, username, ...isReached.values],
    });
  }
  return conditions;
}

/** Ids as a list; a search asks for the same ones in each of its slices. */
const lists = new WeakMap<ReadonlySet<string>, readonly string[]>();

function listOf(ids: ReadonlySet<string>): readonly string[] {
  const known = lists.get(ids) ?? [...ids];
  lists.set(ids, known);
  return known;
}

/** The condition that holds where all of these do. */
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
