import { createId } from '../../lib/secret-token.ts';
import { type Actor, isInCharge } from '../actor.ts';
import { DomainError, invalid, notFound } from '../errors.ts';
import { type GroupId, parseGroupId, sameUsername, type Username } from '../ids.ts';
import { limits } from '../limits.ts';
import type { Listing, ListPart } from '../listing.ts';
import { requirePerson } from '../users/account-access.ts';

/** Users under one name, such as a class; what is granted to it holds while one is in it. */
export interface Group {
  readonly id: GroupId;
  readonly owner: Username;
  readonly name: string;
  /** By username, each once; accounts that exist. */
  readonly usernames: readonly Username[];
}

/** Where groups are kept. They go with their owner, and their members with their accounts. */
export interface GroupStore {
  /** missing: these of its usernames have no account, and nothing was kept. */
  insert(group: Group): Promise<'inserted' | { readonly missing: readonly Username[] }>;
  find(id: GroupId): Promise<Group | undefined>;
  /** Groups of this owner, or of all, in order of creation. */
  list(page: ListPart & { readonly owner?: Username }): Promise<Listing<'groups', Group>>;
  countOwnedBy(owner: Username): Promise<number>;
  rename(id: GroupId, name: string): Promise<'updated' | 'missing'>;
  /**
   * Takes members out, then in; who is in already stays. A list of missing usernames means that
   * nothing was changed; too_many: there would be more than `membersMax`.
   */
  changeMembers(
    id: GroupId,
    change: {
      /** all: its members now. */
      readonly out: 'all' | readonly Username[];
      readonly in: readonly Username[];
      readonly membersMax: number;
    },
  ): Promise<'updated' | 'missing' | 'too_many' | { readonly missing: readonly Username[] }>;
  /** Removes the group and what was granted to it, in one step. */
  remove(id: GroupId): Promise<'removed' | 'missing'>;
}

/** The refusal of more members than a group may have. */
export const groupFull = () => invalid(`a group may hold ${limits.groupMembersMax} users`);
const noGroup = (id: GroupId) => notFound(`you have no group with id ${id}`);

/** The group, if the actor may manage and share with it. Throws forbidden, not_found. */
export async function requireGroup(store: GroupStore, actor: Actor, id: GroupId): Promise<Group> {
  const person = requirePerson(actor);
  const group = await store.find(id);
  if (group === undefined || !isInCharge(person, group)) throw noGroup(id);
  return group;
}

/** Groups of users, for their owner and admins; to others a group does not exist. */
export function createGroups({ store }: { readonly store: GroupStore }) {
  async function changeMembers(
    id: GroupId,
    change: { out: 'all' | readonly Username[]; in: readonly Username[] },
  ): Promise<void> {
    const membersMax = limits.groupMembersMax;
    const outcome = await store.changeMembers(id, { ...change, membersMax });
    if (outcome === 'missing') throw noGroup(id);
    if (outcome === 'too_many') throw groupFull();
    if (outcome !== 'updated') throw nobody(outcome.missing);
  }

  return {
    /** Answers the id of the new group. Throws not_found for usernames without an account. */
    async create(
      actor: Actor,
      { name, usernames }: { name: string; usernames: readonly Username[] },
    ): Promise<GroupId> {
      const { username: owner } = requirePerson(actor);
      requireName(name);
      if (usernames.length > limits.groupMembersMax) throw groupFull();
      if ((await store.countOwnedBy(owner)) >= limits.groupsPerUserMax) {
        throw new DomainError(
          'limit_reached',
          `you have ${limits.groupsPerUserMax} groups already: delete one that is not needed`,
        );
      }
      const id = parseGroupId(createId());
      const outcome = await store.insert({ id, owner, name, usernames });
      if (outcome !== 'inserted') throw nobody(outcome.missing);
      return id;
    },
    get: (actor: Actor, id: GroupId) => requireGroup(store, actor, id),
    /** Groups that the actor owns. */
    list: async (actor: Actor, page: ListPart) =>
      store.list({ ...page, owner: requirePerson(actor).username }),
    async rename(actor: Actor, id: GroupId, name: string): Promise<void> {
      await requireGroup(store, actor, id);
      requireName(name);
      if ((await store.rename(id, name)) === 'missing') throw noGroup(id);
    },
    /** Sets who is in the group; what was granted to it follows at once. */
    async setMembers(actor: Actor, id: GroupId, usernames: readonly Username[]): Promise<void> {
      await requireGroup(store, actor, id);
      await changeMembers(id, { out: 'all', in: usernames });
    },
    async addMember(actor: Actor, id: GroupId, username: Username): Promise<void> {
      await requireGroup(store, actor, id);
      await changeMembers(id, { out: [], in: [username] });
    },
    /** Takes a member out; members may take themselves out. */
    async removeMember(actor: Actor, id: GroupId, username: Username): Promise<void> {
      const person = requirePerson(actor);
      if (!sameUsername(person.username, username)) await requireGroup(store, actor, id);
      const group = await store.find(id);
      const isMember = group?.usernames.some((member) => sameUsername(member, username));
      if (group === undefined || (!isMember && !isInCharge(person, group))) throw noGroup(id);
      await changeMembers(id, { out: [username], in: [] });
    },
    /** Removes the group with all that was granted to it. */
    async remove(actor: Actor, id: GroupId): Promise<void> {
      await requireGroup(store, actor, id);
      if ((await store.remove(id)) === 'missing') throw noGroup(id);
    },
  };
}
export type Groups = ReturnType<typeof createGroups>;

function requireName(name: string): void {
  if (name.trim() === '') throw invalid('name must say what the group is called');
}

/** Names all missing users at once: a pasted list is then mended in one go. */
function nobody(missing: readonly Username[]): DomainError {
  const shown = missing.slice(0, 20).join(', ');
  const rest = missing.length > 20 ? ` and ${missing.length - 20} more` : '';
  return notFound(`there is no user ${shown}${rest}`);
}
