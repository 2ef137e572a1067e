import type { ResourceKind } from '../../domain/access/scopes.ts';
import type { Username } from '../../domain/ids.ts';
import { limits } from '../../domain/limits.ts';
import { createFairSlices, type Pace } from '../../lib/scheduling/fair-slices.ts';
import type { ReachedRow, ReadReach } from '../sql/resources.ts';
import type { SqlReader } from '../sql/session.ts';

/** The grants that reach a user: the scopes of each thing, as their texts, each once. */
type Reach = Map<string, string[]>;

/** Rows that are read at once: about a millisecond. */
const rowsPerPage = 1_000;

const pageOf = (from: string): string =>
  `select resource, scopes from ${from} and kind = $2 and resource > $3
   order by resource limit $4`;
const direct = pageOf('grants indexed by grants_by_username where nocase(username) = nocase($1)');
const ofGroup = pageOf('group_grants where group_id = $1');
const groupsOf = 'select group_id from group_members where nocase(username) = nocase($1)';

// A project reaches what its owner listed and still owns [decision 0013].
const membersOf = (kind: 'device' | 'gateway'): string => `
  select member.resource as resource from projects
  cross join project_members as member
    on member.project = projects.id and member.kind = '${kind}'
  cross join ${kind}s as thing on thing.id = member.resource and thing.owner = projects.owner
  where projects.id = $1`;

/**
 * Finds everything of a kind that any grant reaches for a user, in slices: a stranger may share a
 * thousand projects of the same thousand devices with any user.
 */
export function createReachWalk(reader: SqlReader): ReadReach {
  const turns = createFairSlices({ turnMs: limits.turnMs });

  /** Adds all grants to one user or group, page by page. */
  async function addPages(
    reach: Reach,
    { page, holder, kind }: { page: string; holder: string; kind: ResourceKind },
    pace: Pace,
  ): Promise<void> {
    for (let after = ''; ; ) {
      const rows = await reader.all<ReachedRow>(page, holder, kind, after, rowsPerPage);
      for (const { resource, scopes } of rows) add(reach, resource, scopes);
      if (pace.isOver()) await pace.rest();
      const last = rows.at(-1);
      if (last === undefined || rows.length < rowsPerPage) return;
      after = last.resource;
    }
  }

  async function granted(kind: ResourceKind, username: Username, pace: Pace): Promise<Reach> {
    const reach: Reach = new Map();
    await addPages(reach, { page: direct, holder: username, kind }, pace);
    for (const { group_id } of await reader.all<{ group_id: string }>(groupsOf, username)) {
      await addPages(reach, { page: ofGroup, holder: group_id, kind }, pace);
    }
    return reach;
  }

  return async (kind, username) => {
    const pace = turns.paceOf(username.toLowerCase());
    const reach = await granted(kind, username, pace);
    if (kind === 'project') return rowsOf(reach);
    const sql = membersOf(kind);
    for (const [project, texts] of await granted('project', username, pace)) {
      const rows = await reader.all<{ resource: string }>(sql, project);
      for (const { resource } of rows) for (const text of texts) add(reach, resource, text);
      if (pace.isOver()) await pace.rest();
    }
    return rowsOf(reach);
  };
}

function add(reach: Reach, resource: string, text: string): void {
  const known = reach.get(resource);
  if (known === undefined) reach.set(resource, [text]);
  else if (!known.includes(text)) known.push(text);
}

const rowsOf = (reach: Reach): readonly ReachedRow[] =>
  [...reach].flatMap(([resource, texts]) => texts.map((scopes) => ({ resource, scopes })));
