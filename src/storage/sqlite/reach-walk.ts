import type { DatabaseSync } from 'node:sqlite';
import type { ResourceKind } from '../../domain/access/scopes.ts';
import type { Username } from '../../domain/ids.ts';
import { limits } from '../../domain/limits.ts';
import { createFairTurns, type Pace } from '../../lib/fair-turns.ts';
import { readSafely } from './failures.ts';
import { createSelection, type Selection } from './selection.ts';

interface GrantedRow {
  readonly resource: string;
  readonly scopes: string;
}

/** The grants that reach a user: the scopes of each thing, as their texts, each once. */
export type Reach = ReadonlyMap<string, readonly string[]>;

/** Rows that are read at once: about a millisecond. */
const rowsPerPage = 1_000;

const pageOf = (from: string): string =>
  `select resource, scopes from ${from} and kind = ? and resource > ? order by resource limit ?`;

// A project reaches what its owner listed and still owns [decision 0013].
const membersOf = (kind: 'device' | 'gateway'): string => `
  select member.resource as resource from projects
  cross join project_members as member
    on member.project = projects.id and member.kind = '${kind}'
  cross join ${kind}s as thing on thing.id = member.resource and thing.owner = projects.owner
  where projects.id = ?`;

/**
 * Finds everything of a kind that any grant reaches for a user, in turns: a stranger may share a
 * thousand projects that all hold the same thousand devices with anybody.
 */
export function createReachWalk(
  reader: DatabaseSync,
): (kind: ResourceKind, username: Username) => Promise<Reach> {
  const direct = createSelection<GrantedRow>(
    reader,
    pageOf('grants indexed by grants_by_username where username = ?'),
  );
  const ofGroup = createSelection<GrantedRow>(reader, pageOf('group_grants where group_id = ?'));
  const groupsOf = createSelection<{ group_id: string }>(
    reader,
    'select group_id from group_members where username = ?',
  );
  const members = {
    device: createSelection<{ resource: string }>(reader, membersOf('device')),
    gateway: createSelection<{ resource: string }>(reader, membersOf('gateway')),
  };
  const turns = createFairTurns({ turnMs: limits.turnMs });

  /** Adds all grants to one user or group, page by page. */
  async function addPages(
    reach: Map<string, string[]>,
    { page, holder, kind }: { page: Selection<GrantedRow>; holder: string; kind: ResourceKind },
    pace: Pace,
  ): Promise<void> {
    for (let after = ''; ; ) {
      const rows = await readSafely(() => page.all(holder, kind, after, rowsPerPage));
      for (const { resource, scopes } of rows) add(reach, resource, scopes);
      if (pace.isOver()) await pace.rest();
      const last = rows.at(-1);
      if (last === undefined || rows.length < rowsPerPage) return;
      after = last.resource;
    }
  }

  async function granted(
    kind: ResourceKind,
    username: Username,
    pace: Pace,
  ): Promise<Map<string, string[]>> {
    const reach = new Map<string, string[]>();
    await addPages(reach, { page: direct, holder: username, kind }, pace);
    for (const { group_id } of await readSafely(() => groupsOf.all(username))) {
      await addPages(reach, { page: ofGroup, holder: group_id, kind }, pace);
    }
    return reach;
  }

  return async (kind, username) => {
    const pace = turns.paceOf(username.toLowerCase());
    const reach = await granted(kind, username, pace);
    if (kind === 'project') return reach;
    for (const [project, texts] of await granted('project', username, pace)) {
      const rows = await readSafely(() => members[kind].all(project));
      for (const { resource } of rows) for (const text of texts) add(reach, resource, text);
      if (pace.isOver()) await pace.rest();
    }
    return reach;
  };
}

function add(reach: Map<string, string[]>, resource: string, text: string): void {
  const known = reach.get(resource);
  if (known === undefined) reach.set(resource, [text]);
  else if (!known.includes(text)) known.push(text);
}
