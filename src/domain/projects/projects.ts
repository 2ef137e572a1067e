import { createId } from '../../lib/secret-token.ts';
import { type Access, requireCreation } from '../access/access.ts';
import type { GrantStore } from '../access/grant.ts';
import type { Resource } from '../access/policy.ts';
import { createViewer } from '../access/viewer.ts';
import type { Actor } from '../actor.ts';
import { createGuestShares, makeAsGuest } from '../budgets/guest-shares.ts';
import { conflict, notFound } from '../errors.ts';
import { guestUsername, type ProjectId, parseProjectId } from '../ids.ts';
import { limits } from '../limits.ts';
import type {
  Project,
  ProjectChanges,
  ProjectListing,
  ProjectStore,
  UnsharedMembers,
} from './project.ts';

/** Fields that a client gives for a new project; without an id it gets one. */
export type NewProject = Omit<Project, 'id' | 'owner'> & { readonly id?: ProjectId };

/** Projects, for their owner, grantees and admins; a guest's is for all users [contract 4]. */
export interface Projects {
  /** Answers the id of the new project. */
  create(actor: Actor, project: NewProject): Promise<ProjectId>;
  /** The project, if the actor may view it. Throws not_found, forbidden. */
  get(actor: Actor, id: ProjectId): Promise<Project>;
  /** For owner and admins: what is in the project without being shared with it. */
  unshared(actor: Actor, project: Project): Promise<UnsharedMembers>;
  list(actor: Actor, page: { limit: number; offset: number }): Promise<ProjectListing>;
  update(actor: Actor, id: ProjectId, changes: ProjectChanges): Promise<void>;
  remove(actor: Actor, id: ProjectId): Promise<void>;
}

/** The project as the policy sees it. */
export function projectResource({ id, owner }: Project): Resource {
  return { kind: 'project', id, owner };
}

/** The project with this id. Throws not_found. */
export async function requireProject(store: ProjectStore, id: ProjectId): Promise<Project> {
  const project = await store.find(id);
  if (project === undefined) throw noProject(id);
  return project;
}

const noProject = (id: ProjectId) => notFound(`there is no project with id ${id}`);

export function createProjects(options: {
  readonly store: ProjectStore;
  readonly grants: GrantStore;
  readonly access: Access;
}): Projects {
  const { store, grants, access } = options;
  const shares = createGuestShares();

  async function requireRight(
    actor: Actor,
    scope: 'projects:view' | 'projects:update' | 'projects:delete',
    id: ProjectId,
  ): Promise<Project> {
    const project = await requireProject(store, id);
    await access.require(actor, scope, projectResource(project));
    return project;
  }

  async function insert(actor: Actor, project: Project): ReturnType<typeof store.insert> {
    if (actor.kind !== 'guest') return store.insert(project);
    const used = await store.countOwnedBy(guestUsername);
    const rule = { what: 'projects', used, max: limits.guestProjectsMax };
    return makeAsGuest(shares, actor, rule, () => store.insert(project));
  }

  return {
    async create(actor, project) {
      requireCreation(actor, 'projects:update');
      const { id = parseProjectId(createId()), ...fields } = project;
      const owner = actor.kind === 'guest' ? guestUsername : actor.username;
      const outcome = await insert(actor, { ...fields, id, owner });
      if (outcome === 'duplicate') throw conflict(`the project id ${id} is taken`);
      return id;
    },
    get: (actor, id) => requireRight(actor, 'projects:view', id),
    unshared: async (actor, project) =>
      isInCharge(actor, project) ? store.unshared(project.id) : { deviceIds: [], gatewayIds: [] },
    async list(actor, page) {
      const { settings } = access;
      const { visibleTo } = await createViewer({ actor, kind: 'project', grants, settings });
      return store.list({ ...page, visibleTo });
    },
    async update(actor, id, changes) {
      const project = await requireRight(actor, 'projects:update', id);
      // Users who may change a shared project could list the owner's other devices to see them.
      const isOwners = isInCharge(actor, project);
      if ((await store.update(id, changes, { isOwners })) === 'missing') throw noProject(id);
    },
    async remove(actor, id) {
      await requireRight(actor, 'projects:delete', id);
      if ((await store.remove(id)) === 'missing') throw noProject(id);
    },
  };
}

/** Whether the actor may share the project: its owner or an admin, never a key. */
function isInCharge(actor: Actor, { owner }: Project): boolean {
  if (actor.kind === 'guest' || actor.key !== undefined) return false;
  return actor.kind === 'admin' || actor.username === owner;
}
