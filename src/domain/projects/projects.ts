import { createId } from '../../lib/secret-token.ts';
import type { GrantStore } from '../access/grant.ts';
import { type Access, byRight, requireCreation } from '../access/policy.ts';
import type { Resource } from '../access/scopes.ts';
import { createViewer, type VisibleTo } from '../access/viewer.ts';
import { type Actor, isInCharge, usernameOf } from '../actor.ts';
import { createGuestShares, makeWithin } from '../budgets/guest-shares.ts';
import { conflict, notFound } from '../errors.ts';
import {
  type DeviceId,
  type GatewayId,
  type ProjectId,
  parseProjectId,
  type Username,
} from '../ids.ts';
import { limits } from '../limits.ts';
import type { Listing, ListPart } from '../listing.ts';

/**
 * A named set of devices and gateways. Sharing it shares those in it that its owner owns and that
 * its owner, or an admin, put there [decision 0013].
 */
export interface Project {
  readonly id: ProjectId;
  readonly owner: Username;
  readonly name?: string;
  /** Distinct ids; the devices need not exist. */
  readonly deviceIds: readonly DeviceId[];
  readonly gatewayIds: readonly GatewayId[];
}

/** Fields that a PUT may set; a name set to undefined is removed. */
export interface ProjectChanges extends Partial<Pick<Project, 'deviceIds' | 'gatewayIds'>> {
  readonly name?: string | undefined;
}

/** Members that sharing the project does not reach: another user than its owner listed them. */
export type UnsharedMembers = Pick<Project, 'deviceIds' | 'gatewayIds'>;
type ProjectListing = Listing<'projects', Project>;

/** Where projects are kept. Lists are in order of creation. */
export interface ProjectStore {
  /** Keeps a new project: grants on it reach all that it lists. */
  insert(project: Project): Promise<'inserted' | 'duplicate'>;
  find(id: ProjectId): Promise<Project | undefined>;
  /** A project is never public: a guest sees the guest's, a user those and its own and granted. */
  list(page: ListPart & { readonly visibleTo: VisibleTo }): Promise<ProjectListing>;
  countOwnedBy(owner: Username): Promise<number>;
  /**
   * isOwners: whatever the changes list is reached by grants on the project. Otherwise what they
   * add is not, and the rest stays as it is.
   */
  update(
    id: ProjectId,
    changes: ProjectChanges,
    by: { readonly isOwners: boolean },
  ): Promise<'updated' | 'missing'>;
  /** Members of the project that grants on it do not reach. */
  unshared(id: ProjectId): Promise<UnsharedMembers>;
  /** Removes the project with its grants, in one step; what is in it stays. */
  remove(id: ProjectId): Promise<'removed' | 'missing'>;
}

/** Fields that a client gives for a new project; without an id it gets one. */
export type NewProject = Omit<Project, 'id' | 'owner'> & { readonly id?: ProjectId };

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

/** Projects, for their owner, grantees and admins; a guest's is for all users [contract 4]. */
export function createProjects(options: {
  readonly store: ProjectStore;
  readonly grants: GrantStore;
  readonly access: Access;
}) {
  const { store, grants, access } = options;
  const shares = createGuestShares();
  const requireRight = byRight(access, store, requireProject, projectResource);

  return {
    /** Answers the id of the new project. */
    async create(actor: Actor, project: NewProject): Promise<ProjectId> {
      requireCreation(actor, 'projects:update');
      const { id = parseProjectId(createId()), ...fields } = project;
      const { guestProjectsMax: max, projectsPerUserMax: each } = limits;
      const room = { shares, what: 'projects', max, each, store };
      const outcome = await makeWithin(room, actor, () =>
        store.insert({ ...fields, id, owner: usernameOf(actor) }),
      );
      if (outcome === 'duplicate') throw conflict(`the project id ${id} is taken`);
      return id;
    },
    /** The project, if the actor may view it. Throws not_found, forbidden. */
    get: (actor: Actor, id: ProjectId) => requireRight(actor, 'projects:view', id),
    /** For owner and admins: what is in the project without being shared with it. */
    unshared: async (actor: Actor, project: Project) =>
      isInCharge(actor, project) ? store.unshared(project.id) : { deviceIds: [], gatewayIds: [] },
    async list(actor: Actor, page: ListPart): Promise<ProjectListing> {
      const { settings } = access;
      const { visibleTo } = await createViewer({ actor, kind: 'project', grants, settings });
      return store.list({ ...page, visibleTo });
    },
    async update(actor: Actor, id: ProjectId, changes: ProjectChanges): Promise<void> {
      const project = await requireRight(actor, 'projects:update', id);
      // Users who may change a shared project could list the owner's other devices to see them.
      const isOwners = isInCharge(actor, project);
      if ((await store.update(id, changes, { isOwners })) === 'missing') throw noProject(id);
    },
    async remove(actor: Actor, id: ProjectId): Promise<void> {
      await requireRight(actor, 'projects:delete', id);
      if ((await store.remove(id)) === 'missing') throw noProject(id);
    },
  };
}
export type Projects = ReturnType<typeof createProjects>;
