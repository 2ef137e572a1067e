import type { GrantStore } from '../../domain/access/grant.ts';
import type { ResourceKind, Scope } from '../../domain/access/scopes.ts';
import type { VisibleTo } from '../../domain/access/viewer.ts';
import type { Username } from '../../domain/ids.ts';
import type { Pace } from '../../lib/scheduling/fair-slices.ts';
import type { DamagedRows } from '../faults.ts';
import { applyPatch, type ResourcePatch } from './patch.ts';
import {
  allOf,
  type Condition,
  type Count,
  deletion,
  numbered,
  readPage,
  type SqlReader,
  type SqlSession,
} from './session.ts';
import { found, type Row, reading, type Table, textsFrom } from './table.ts';

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

const selectOwned = `
  select (select cast(coalesce(sum(things), 0) as bigint) from list_counts
    where kind = $1 and part = value) as n
  from each($2) order by given.key`;

/** Counts what each of these accounts owns of a kind. */
export const countingOwned =
  (reader: SqlReader, kind: ResourceKind) =>
  async (owners: readonly string[]): Promise<readonly number[]> => {
    const parts = owners.map((owner) => `=${owner.toLowerCase()}`);
    return (await reader.all<Count>(selectOwned, kind, parts)).map(({ n }) => n);
  };

/** Before all positions. */
export const firstPosition = -1;

/** Ids that one statement looks for, and things that one statement skips: some milliseconds. */
const perStatement = { ids: 500, skipped: 5_000 } as const;

/** Things of a kind that a list shows: those of one owner, or of all. */
export interface Shown {
  readonly visibleTo: VisibleTo;
  readonly owner?: string;
}

/**
 * Parts of a list that have no thing in common. Each range is one of an index, in order of
 * position, and its number is kept in `list_counts`: that of `counted` without `uncounted`.
 */
interface ShownParts {
  readonly ranges: readonly Condition[];
  readonly counted: readonly string[];
  readonly uncounted?: string;
  /** Hidden things that the user was granted beyond these, while the condition holds for them. */
  readonly reached: readonly GrantedPlace[];
  readonly isReached?: Condition;
}

const isOwners = 'nocase(owner) = nocase(?)';
const everything: Condition = { sql: 'true', values: [] };
const open: Condition = { sql: `listed = ''`, values: [] };

async function partsOf(
  reader: SqlReader,
  kind: ResourceKind,
  { visibleTo: { who }, owner }: Shown,
): Promise<ShownParts> {
  const own = typeof who === 'string' ? undefined : who.username.toLowerCase();
  const owned = owner?.toLowerCase();
  if (who === 'everything' || (owned !== undefined && owned === own)) {
    if (owned === undefined) return { ranges: [everything], counted: ['*'], reached: [] };
    return { ranges: [{ sql: isOwners, values: [owned] }], counted: [`=${owned}`], reached: [] };
  }
  const granted = typeof who === 'string' ? [] : await grantedPlaces(reader, kind, who);
  const reached = granted.filter(({ listed }) => owned === undefined || listed === owned);
  if (owned !== undefined) {
    const ranges = [{ sql: `${isOwners} and ${open.sql}`, values: [owned] }];
    const isReached = { sql: 'listed = ?', values: [owned] };
    return { ranges, counted: [`=${owned}`], uncounted: owned, reached, isReached };
  }
  if (own === undefined) return { ranges: [open], counted: [''], reached: [] };
  const hidden = { sql: 'listed = ?', values: [own] };
  const isReached = { sql: `listed not in ('', ?)`, values: [own] };
  return { ranges: [open, hidden], counted: ['', own], reached, isReached };
}

/** A hidden thing of another user, with its owner. */
interface GrantedPlace {
  readonly id: string;
  readonly position: number;
  readonly listed: string;
}

/** Each set is asked for in all steps of a search; it is as old as what its user was granted. */
const placedSets = new WeakMap<ReadonlySet<string>, readonly GrantedPlace[]>();

/** Finds the hidden things of others that a user was granted, few at a time, in order. */
async function grantedPlaces(
  reader: SqlReader,
  kind: ResourceKind,
  { username, reached }: Exclude<VisibleTo['who'], string>,
): Promise<readonly GrantedPlace[]> {
  const known = placedSets.get(reached);
  if (known !== undefined) return known;
  const owner = username.toLowerCase();
  const pace = reader.turns?.paceOf(owner);
  const select = `
    select id, position, listed from ${kind}s
    where id in (select value from each($1)) and listed not in ('', $2)`;
  const all = [...reached];
  const placed: GrantedPlace[] = [];
  for (let at = 0; at < all.length; at += perStatement.ids) {
    const some = all.slice(at, at + perStatement.ids);
    placed.push(...(await reader.all<GrantedPlace>(select, some, owner)));
    if (pace?.isOver() === true) await pace.rest();
  }
  placed.sort((a, b) => a.position - b.position);
  placedSets.set(reached, placed);
  return placed;
}

/** Selects `place`: so many positions of a list after one, in order. */
function placesAfter(
  kind: ResourceKind,
  { ranges, reached, isReached = everything }: ShownParts,
  { after, count }: { readonly after: number; readonly count: number },
): Condition {
  const parts: Condition[] = ranges.map(({ sql, values }) => ({
    sql: `select * from (select position from ${kind}s where ${sql} and position > ?
      order by position limit ?) as part`,
    values: [...values, after, count],
  }));
  const granted = reached.filter(({ position }) => position > after).slice(0, count);
  if (granted.length > 0) {
    // As they are now: another thing may have the position by then, or the right to it ended.
    const { sql, values } = allOf([isReached, oneOf(granted.map(({ id }) => id))]);
    parts.push({
      sql: `select position from ${kind}s where ${sql} and position > ?`,
      values: [...values, after],
    });
  }
  return {
    sql: `select position as place from (${parts.map(({ sql }) => sql).join(' union all ')})
      as parts order by position limit ?`,
    values: [...parts.flatMap(({ values }) => values), count],
  };
}

const selectCounted = `
  select cast(coalesce(sum(case when part = $2 then -things else things end), 0) as bigint) as n
  from list_counts where kind = $1 and part in (select value from each($3))`;

async function countParts(
  session: SqlSession,
  kind: ResourceKind,
  { counted, uncounted, reached }: ShownParts,
): Promise<number> {
  const all = uncounted === undefined ? counted : [...counted, uncounted];
  const found = await session.first<Count>(selectCounted, kind, uncounted ?? null, all);
  return (found?.n ?? 0) + reached.length;
}

/**
 * Lists devices, gateways or projects in order of creation, with these columns. The work of a page
 * is that of its rows and its offset, whatever else there is.
 */
export function listing<Row>(reader: SqlReader, kind: ResourceKind, columns: string) {
  const table = `${kind}s`;

  function rowsAfter<Found>(
    session: SqlSession,
    parts: ShownParts,
    { after, offset, limit }: { after: number; offset: number; limit: number },
  ): Promise<readonly Found[]> {
    const places = placesAfter(kind, parts, { after, count: offset + limit });
    const select = `
      select position, ${columns}
      from (select * from (${places.sql}) as places order by place limit ? offset ?) as shown
      cross join ${table} on position = place order by place`;
    return session.all<Found>(numbered(select), ...places.values, limit, offset);
  }

  /** Goes past things in steps; answers where the last one is, and how many are left to go. */
  async function skip(parts: ShownParts, offset: number, pace: Pace | undefined) {
    let [after, left] = [firstPosition, offset];
    while (left > perStatement.skipped) {
      const { sql, values } = placesAfter(kind, parts, { after, count: perStatement.skipped });
      const last = numbered(`select max(place) as place, count(*) as n from (${sql}) as places`);
      const found = await reader.first<Count & { place: number | null }>(last, ...values);
      after = found?.place ?? after;
      if (found?.n !== perStatement.skipped) return { after, offset: 0 };
      left -= perStatement.skipped;
      if (pace?.isOver() === true) await pace.rest();
    }
    return { after, offset: left };
  }

  return {
    /** Lists a page, and counts all. */
    async page({ limit, offset, ...shown }: Shown & { limit: number; offset: number }) {
      const { who, only } = shown.visibleTo;
      if (only !== undefined) {
        const { owner } = shown;
        const isShown = owner === undefined ? everything : { sql: isOwners, values: [owner] };
        const { sql, values } = allOf([...visibleAmong(kind, shown.visibleTo), isShown]);
        const wanted = { columns, from: numbered(`${table} where ${sql}`) };
        return reader.inSnapshot((session) =>
          readPage<Row>(session, wanted, values, { limit, offset }),
        );
      }
      const payer = typeof who === 'string' ? who : who.username.toLowerCase();
      await reader.turns?.enter(payer);
      const parts = await partsOf(reader, kind, shown);
      const rest = await skip(parts, offset, reader.turns?.paceOf(payer));
      return reader.inSnapshot(async (session) => ({
        rows: await rowsAfter<Row>(session, parts, { ...rest, limit }),
        total: await countParts(session, kind, parts),
      }));
    },
    /** Lists the next ones after a position. */
    async next(shown: Shown, after: number, limit: number) {
      const parts = await partsOf(reader, kind, shown);
      const page = { after, offset: 0, limit };
      return rowsAfter<Row & { readonly position: number }>(reader, parts, page);
    },
  };
}

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
  const countOwned = countingOwned(reader, kind);
  return {
    find: async (id: string) => found(await reader.first<Row>(select, id), read),
    async list(page: Parameters<typeof list.page>[0]) {
      const { rows, total } = await list.page(page);
      return { things: rows.flatMap((row) => read(row) ?? []), total };
    },
    countOwnedBy: async (owner: string) => (await countOwned([owner]))[0] ?? 0,
  };
}

const oneOfThese = 'id in (select value from each(?))';
const oneOf = (ids: readonly string[]): Condition => ({ sql: oneOfThese, values: [ids] });

/** The rows that a list of these ids alone may show, of the table that keeps this kind. */
export function visibleAmong(
  kind: ResourceKind,
  { who, only = new Set(), madeBy }: VisibleTo,
): readonly Condition[] {
  const conditions: Condition[] = [oneOf([...only])];
  if (kind === 'device' && madeBy !== undefined && typeof who !== 'string') {
    const sql = `(created_at <= ? or ${isOwners})`;
    conditions.push({ sql, values: [madeBy, who.username] });
  }
  if (who === 'everything') return conditions;
  const isOthers = who === 'public';
  const reached = isOthers ? [] : [...only].filter((id) => who.reached.has(id));
  // In one test, so that SQLite searches the ids.
  const sql = `(${open.sql} or listed = ? or ${oneOfThese})`;
  return [...conditions, { sql, values: [isOthers ? '' : who.username.toLowerCase(), reached] }];
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
export function createReachingGrants(options: {
  readonly reader: SqlReader;
  readonly damaged: DamagedRows;
  readonly readReach: ReadReach;
}): Pick<GrantStore, 'findIndirect' | 'listReaching'> {
  const { reader, damaged, readReach } = options;
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
