import type { GrantStore } from '../../domain/access/grant.ts';
import type { ResourceKind, Scope } from '../../domain/access/scopes.ts';
import type { VisibleTo } from '../../domain/access/viewer.ts';
import { guestUsername, type Username } from '../../domain/ids.ts';
import type { DamagedRows } from '../damaged-rows.ts';
import { applyPatch, type ResourcePatch } from './patch.ts';
import {
  type Count,
  countRows,
  deletion,
  found,
  readPage,
  type SqlReader,
  type SqlSession,
  type Value,
} from './session.ts';
import { type Row, reading, type Table, textsFrom } from './table.ts';

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

/** Before all positions. */
export const firstPosition = -1;

/** Positions that one statement goes through where it holds others up: some two milliseconds. */
const positionsPerSlice = 20_000;

/** Ids that one statement looks for where it holds others up. */
const idsPerSlice = 500;

/** Positions that are known together to have ids of a set. */
const positionsPerPart = 1_000;

/** Fewer positions than usual: each row is looked up among the ids. */
const partsPerSlice = 5;

/** Where the thread that looks them up is not the service's own. */
const partsPerSliceElsewhere = 1_000;

/** The ids of a set by their positions: parts of `positionsPerPart`, from position 0 on. */
type PlacedIds = ReadonlyMap<number, readonly string[]>;

interface PlacedRow {
  readonly position: number;
  readonly id: string;
}

/** Each set is asked for in all slices of its lists; it is as old as what its user was granted. */
const placedSets = new WeakMap<ReadonlySet<string>, PlacedIds>();

/** Finds the positions of ids, few at a time. */
async function placeIds(
  reader: SqlReader,
  { table, ids, payer }: { table: string; ids: ReadonlySet<string>; payer: string },
): Promise<PlacedIds> {
  const known = placedSets.get(ids);
  if (known !== undefined) return known;
  const placed = new Map<number, string[]>();
  const pace = reader.turns?.paceOf(payer);
  const select = `select position, id from ${table} where id in (select value from each($1))`;
  const all = listOf(ids);
  for (let at = 0; at < all.length; at += idsPerSlice) {
    const some = all.slice(at, at + idsPerSlice);
    for (const { position, id } of await reader.all<PlacedRow>(select, some)) {
      const part = Math.floor(position / positionsPerPart);
      const others = placed.get(part);
      if (others === undefined) placed.set(part, [id]);
      else others.push(id);
    }
    if (pace?.isOver() === true) await pace.rest();
  }
  placedSets.set(ids, placed);
  return placed;
}

/** The part of a list that one statement reads: positions up to `end`, and who is shown them. */
interface ListSlice {
  readonly end: number;
  readonly visibleTo: VisibleTo;
  readonly between: Condition;
}

/**
 * Divides a list by position, so that each statement has few rows to go through and few ids of what
 * its user was granted; undefined where a statement holds nobody up and there are few ids.
 */
export async function slicesOf(
  reader: SqlReader,
  kind: ResourceKind,
  visibleTo: VisibleTo,
): Promise<((after: number) => ListSlice) | undefined> {
  const { who } = visibleTo;
  const reached = typeof who === 'string' ? undefined : who.reached;
  if (reader.turns === undefined && (reached?.size ?? 0) <= idsPerSlice) return undefined;
  if (typeof who === 'string' || reached === undefined || reached.size <= idsPerSlice) {
    const positions = reached?.size ? partsPerSlice * positionsPerPart : positionsPerSlice;
    return (after) => sliceTo(after, after + positions, visibleTo);
  }
  const payer = who.username.toLowerCase();
  const placed = await placeIds(reader, { table: `${kind}s`, ids: reached, payer });
  return (after) => {
    const ids: string[] = [];
    let part = Math.floor((after + 1) / positionsPerPart);
    const partsEnd = part + (reader.turns ? partsPerSlice : partsPerSliceElsewhere);
    do {
      ids.push(...(placed.get(part) ?? []));
      part += 1;
    } while (part < partsEnd && ids.length < idsPerSlice);
    const end = part * positionsPerPart - 1;
    return sliceTo(after, end, { ...visibleTo, who: { ...who, reached: new Set(ids) } });
  };
}

const sliceTo = (after: number, end: number, visibleTo: VisibleTo): ListSlice => ({
  ...{ end, visibleTo },
  between: { sql: 'position > ? and position <= ?', values: [after, end] },
});

export const lastPosition = async (session: SqlSession, table: string): Promise<number> =>
  (await session.first<Count>(`select coalesce(max(position), 0) as n from ${table}`))?.n ?? 0;

/**
 * Lists devices, gateways or projects in order of creation, with these columns. Where a statement
 * holds others up, those who may see some of all have them counted slice by slice.
 */
export const listing =
  <Row>(reader: SqlReader, kind: ResourceKind, columns: string) =>
  async (page: { visibleTo: VisibleTo; limit: number; offset: number }) => {
    const { who, only } = page.visibleTo;
    const table = `${kind}s`;
    const isFew = only !== undefined || who === 'everything';
    const payer = typeof who === 'string' ? who : who.username.toLowerCase();
    if (!isFew) await reader.turns?.enter(payer);
    const pace = isFew ? undefined : reader.turns?.paceOf(payer);
    const sliceFrom = isFew ? undefined : await slicesOf(reader, kind, page.visibleTo);
    const rows: Row[] = [];
    let [total, after, last] = [0, firstPosition, firstPosition];
    do {
      const slice = sliceFrom?.(after);
      const visible = visibleRows(kind, slice?.visibleTo ?? page.visibleTo);
      const { sql, values } = allOf(slice ? [...visible, slice.between] : visible);
      const wanted = { columns, from: numbered(`${table} where ${sql}`) };
      const part = { limit: page.limit - rows.length, offset: Math.max(0, page.offset - total) };
      const read = await reader.inSnapshot(async (session) => {
        if (slice !== undefined) last = await lastPosition(session, table);
        return readPage<Row>(session, wanted, values, part);
      });
      rows.push(...read.rows);
      total += read.total;
      after = slice?.end ?? last;
      if (pace?.isOver() === true) await pace.rest();
    } while (after < last);
    return { rows, total };
  };

/** Reads gateways or projects, one by one and in lists. */
export function resourceReads<Thing>(
  { reader, damaged }: { readonly reader: SqlReader; readonly damaged: DamagedRows },
  kind: ResourceKind,
  table: Table<Thing>,
) {
  const { name, columns } = table;
  const select = `select ${columns} from ${name} where id = $1`;
  const read = reading(damaged, table);
  const list = listing<Row>(reader, kind, columns);
  return {
    find: async (id: string) => found(await reader.first<Row>(select, id), read),
    async list(page: Parameters<typeof list>[0]) {
      const { rows, total } = await list(page);
      return { things: rows.flatMap((row) => read(row) ?? []), total };
    },
    countOwnedBy: countingOwned(reader, name),
  };
}

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
        : { sql: oneOfThese, values: [reachedAmong(reached, only)] };
    conditions.push({
      sql: `(${isPublic} or ${isOwners} or ${isOwners} or ${isReached.sql})`,
      values: [guestUsername, username, ...isReached.values],
    });
  }
  return conditions;
}

/** The ids that are reached, of these alone where a list is of these alone. */
const reachedAmong = (
  reached: ReadonlySet<string>,
  only: ReadonlySet<string> | undefined,
): readonly string[] =>
  only === undefined ? listOf(reached) : [...only].filter((id) => reached.has(id));

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

/** The scopes kept as a JSON array. */
export const scopesFromText = (text: string): readonly Scope[] =>
  textsFrom(text) as readonly Scope[];

/** A resource that a grant reaches, with the scopes as their text. */
export interface ReachedRow {
  readonly resource: string;
  readonly scopes: string;
}

/** Reads everything of a kind that any grant reaches for a user. */
export type ReadReach = (kind: ResourceKind, username: Username) => Promise<readonly ReachedRow[]>;

const isUser = (place: string): string => `nocase(username) = nocase(${place})`;

const ofGroups = (place: string): string =>
  `from group_members cross join group_grants using (group_id) where ${isUser(place)}`;

/** Projects that were granted to the user, with the scopes, directly or by a group. */
const grantedProjects = (place: string): string => `
  select resource as project, scopes from grants indexed by grants_by_username
  where ${isUser(place)} and kind = 'project'
  union select resource, scopes ${ofGroups(place)} and kind = 'project'`;

/**
 * Selects `resource` and `scopes` of all of this kind that any grant reaches for the user whom the
 * placeholder names. A project reaches what its owner listed and still owns [decision 0013]. What
 * several grants reach with the same scopes is there once: a thing may be in many projects.
 */
export function reachingSql(kind: ResourceKind, place: string): string {
  const onThings = `
    select resource, scopes from grants indexed by grants_by_username
    where ${isUser(place)} and kind = '${kind}'
    union select resource, scopes ${ofGroups(place)} and kind = '${kind}'`;
  if (kind === 'project') return onThings;
  return `${onThings}
    union
    select member.resource, granted.scopes from (${grantedProjects(place)}) as granted
    cross join projects on projects.id = granted.project
    cross join project_members as member
      on member.project = granted.project and member.kind = '${kind}'
    cross join ${kind}s as thing
      on thing.id = member.resource and nocase(thing.owner) = nocase(projects.owner)`;
}

// $1 username, $2 kind, $3 resource, $4 its owner.
const selectIndirect = `
  select scopes ${ofGroups('$1')} and kind = $2 and resource = $3
  union
  select granted.scopes from (${grantedProjects('$1')}) as granted
  cross join project_members as member
    on member.project = granted.project and member.kind = $2 and member.resource = $3
  cross join projects on projects.id = granted.project and nocase(projects.owner) = nocase($4)`;

/** The part of the store of grants that finds what reaches users by groups and projects. */
export function createReachingGrants({
  reader,
  damaged,
  readReach,
}: {
  readonly reader: SqlReader;
  readonly damaged: DamagedRows;
  readonly readReach: ReadReach;
}): Pick<GrantStore, 'findIndirect' | 'listReaching'> {
  const none: readonly Scope[] = [];

  function readScopes(resource: string, text: string): readonly Scope[] {
    return damaged.read('grants', `reaching ${resource}`, () => scopesFromText(text)) ?? none;
  }

  return {
    async findIndirect({ kind, id, owner }, username) {
      const rows = await reader.all<{ scopes: string }>(selectIndirect, username, kind, id, owner);
      return rows.flatMap(({ scopes }) => readScopes(`${kind} ${id}`, scopes));
    },
    async listReaching(kind, username) {
      const rows = await readReach(kind, username);
      return rows.map(({ resource, scopes }) => ({
        resource,
        scopes: readScopes(`${kind} ${resource}`, scopes),
      }));
    },
  };
}
