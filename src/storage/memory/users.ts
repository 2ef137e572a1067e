import type { UserId } from '../../domain/ids.ts';
import type { User, UserChanges } from '../../domain/users/user.ts';
import type { RemovedThings, UserStore } from '../../domain/users/user-store.ts';
import {
  endTokensOf,
  findByUsername,
  isSocialOf,
  type MemoryState,
  removeDeliveriesOf,
  removeDevice,
  removeGateway,
  removeProject,
  removeSessionsOf,
  removeSocial,
  sameUsername,
  withChanges,
} from './memory-state.ts';

/** Accounts in memory. */
export function createUserStore(state: MemoryState): UserStore {
  const { users } = state;

  return {
    async insert(user, passwordHash) {
      if (users.has(user.id) || findByUsername(state, user.username)) return 'duplicate';
      users.set(user.id, { user, passwordHash });
      return 'inserted';
    },
    find: async (id) => users.get(id)?.user,
    findByUsername: async (username) => findByUsername(state, username)?.user,
    async findLogin(usernameOrEmail) {
      const byUsername = findByUsername(state, usernameOrEmail);
      if (byUsername !== undefined) return byUsername;
      const email = usernameOrEmail.toLowerCase();
      return [...users.values()].find(({ user }) => user.profile.email?.toLowerCase() === email);
    },
    async list({ username, limit, offset }) {
      const all = [...users.values()].map(({ user }) => user);
      const matching =
        username === undefined ? all : all.filter((user) => sameUsername(user.username, username));
      return { users: matching.slice(offset, offset + limit), total: matching.length };
    },
    async update(id, changes) {
      const stored = users.get(id);
      if (stored === undefined) return 'missing';
      users.set(id, { ...stored, user: changed(stored.user, changes) });
      if (changes.isDisabled === true) endTokensOf(state, id);
      return 'updated';
    },
    async setPassword(id, passwordHash) {
      const stored = users.get(id);
      if (stored === undefined) return 'missing';
      users.set(id, { ...stored, passwordHash });
      endTokensOf(state, id);
      return 'updated';
    },
    remove: async (id) => remove(state, id),
    countAdmins: async () =>
      [...users.values()].filter(({ user }) => user.isAdmin && !user.isDisabled).length,
  };
}

function changed(user: User, { profile = {}, smsCredit, ...flags }: UserChanges): User {
  return withChanges(user, {
    ...flags,
    profile: withChanges(user.profile, profile),
    ...(smsCredit !== undefined && {
      smsCredit: smsCredit === 'unlimited' ? undefined : smsCredit,
    }),
  });
}

function remove(state: MemoryState, id: UserId): RemovedThings | 'missing' {
  const user = state.users.get(id)?.user;
  if (user === undefined) return 'missing';
  const devices = [...state.devices.values()]
    .filter(({ owner }) => sameUsername(owner, user.username))
    .map((device) => device.id);
  for (const device of devices) removeDevice(state, device);
  const gateways = [...state.gateways.values()]
    .filter(({ owner }) => sameUsername(owner, user.username))
    .map((gateway) => gateway.id);
  for (const gateway of gateways) removeGateway(state, gateway);
  for (const { id: project, owner } of state.projects.values()) {
    if (sameUsername(owner, user.username)) removeProject(state, project);
  }
  for (const [key, grant] of state.grants) {
    if (sameUsername(grant.username, user.username)) state.grants.delete(key);
  }
  for (const social of state.socials.values()) {
    if (isSocialOf(social, user.username)) removeSocial(state, social.id);
  }
  for (const { notification } of state.notifications.values()) {
    if (!sameUsername(notification.owner, user.username)) continue;
    removeDeliveriesOf(state, { kind: 'notification', id: notification.id });
    state.notifications.delete(notification.id);
  }
  for (const key of state.keys.values()) if (key.userId === id) state.keys.delete(key.id);
  endTokensOf(state, id);
  removeSessionsOf(state, id);
  state.users.delete(id);
  return { devices, gateways };
}
