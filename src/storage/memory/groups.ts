import type { Group } from '../../domain/groups/group.ts';
import type { GroupStore } from '../../domain/groups/group-store.ts';
import type { Username } from '../../domain/ids.ts';
import { findByUsername, type MemoryState, removeGroup, sameUsername } from './memory-state.ts';

/** Groups in memory. */
export function createGroupStore(state: MemoryState): GroupStore {
  const { groups } = state;
  const ownedBy = (owner: Username | undefined): Group[] =>
    [...groups.values()].filter((group) => owner === undefined || sameUsername(group.owner, owner));

  /** Finds the names that have an account, as it is written, in order; and the others. */
  function lookUp(names: readonly Username[]) {
    const found = new Map<string, Username>();
    const missing: Username[] = [];
    for (const name of names) {
      const username = findByUsername(state, name)?.user.username;
      if (username === undefined) missing.push(name);
      else found.set(username.toLowerCase(), username);
    }
    const usernames = [...found].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, name]) => name);
    return { usernames, missing };
  }

  return {
    async insert(group) {
      const { usernames, missing } = lookUp(group.usernames);
      if (missing.length > 0) return { missing };
      groups.set(group.id, { ...group, usernames });
      return 'inserted';
    },
    find: async (id) => groups.get(id),
    async list({ owner, limit, offset }) {
      const all = ownedBy(owner);
      return { groups: all.slice(offset, offset + limit), total: all.length };
    },
    countOwnedBy: async (owner) => ownedBy(owner).length,
    async rename(id, name) {
      const group = groups.get(id);
      if (group === undefined) return 'missing';
      groups.set(id, { ...group, name });
      return 'updated';
    },
    async changeMembers(id, change) {
      const group = groups.get(id);
      if (group === undefined) return 'missing';
      const { out } = change;
      const staying = group.usernames.filter(
        (member) => out !== 'all' && !out.some((name) => sameUsername(name, member)),
      );
      const { missing } = lookUp(change.in);
      if (missing.length > 0) return { missing };
      const { usernames } = lookUp([...staying, ...change.in]);
      if (usernames.length > change.membersMax) return 'too_many';
      groups.set(id, { ...group, usernames });
      return 'updated';
    },
    async remove(id) {
      if (!groups.has(id)) return 'missing';
      removeGroup(state, id);
      return 'removed';
    },
  };
}
