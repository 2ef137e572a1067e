import type { Group } from '../../domain/groups/group.ts';
import type { UserId, Username } from '../../domain/ids.ts';
import { limits } from '../../domain/limits.ts';
import { addressKey, emailStrength, proofsAfter } from '../../domain/users/address-proofs.ts';
import type { User, UserChanges } from '../../domain/users/user.ts';
import type { RemovedThings, StoredLogin, UserStore } from '../../domain/users/user-store.ts';
import { withChanges } from '../../lib/record.ts';
import {
  endLoginsOf,
  endTokensOf,
  findByUsername,
  isSocialOf,
  keepLastLogin,
  type MemoryState,
  removeDeliveriesOf,
  removeDevice,
  removeGateway,
  removeGroup,
  removeProject,
  removeSocial,
  retentionKey,
  sameUsername,
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
    findLogin: async (username) => findByUsername(state, username),
    async findByEmail(email) {
      const key = addressKey('email', email);
      return [...users.values()]
        .filter(({ user: { profile } }) => {
          return profile.email !== undefined && addressKey('email', profile.email) === key;
        })
        .sort((left, right) => strengthOf(right) - strengthOf(left))
        .slice(0, 2);
    },
    async rememberNetwork(id, network, at) {
      const stored = users.get(id);
      if (stored === undefined) return;
      const others = [...(stored.networks ?? [])].filter(([name]) => name !== network);
      const newest = [...others, [network, at] as const].slice(-limits.knownNetworksPerUserMax);
      users.set(id, { ...stored, networks: new Map(newest) });
      keepLastLogin(state, id, at, at);
    },
    knowsNetwork: async (id, network) => users.get(id)?.networks?.has(network) === true,
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
      if (changes.isDisabled === true) endCredentialsOf(state, id);
      return 'updated';
    },
    async setPassword(id, passwordHash, ends = {}) {
      const stored = users.get(id);
      if (stored === undefined) return 'missing';
      const user = withChanges(stored.user, { isPasswordInitial: ends.isInitial });
      users.set(id, { ...stored, user, passwordHash });
      endTokensOf(state, id);
      endLoginsOf(state, id, ends.exceptSession);
      const before = ends.keysMadeBefore ?? Number.NEGATIVE_INFINITY;
      const ended = [...state.keys.values()].filter(
        (key) => key.userId === id && key.createdAt < before,
      );
      for (const key of ended) state.keys.delete(key.id);
      return { endedKeys: ended.map((key) => key.id) };
    },
    remove: async (id) => remove(state, id),
    signUps: async () =>
      [...users.values()].flatMap(({ user }) => (user.isSignUp ? user.username : [])),
    countAdmins: async () =>
      [...users.values()].filter(({ user }) => user.isAdmin && !user.isDisabled).length,
  };
}

const strengthOf = ({ user }: StoredLogin) => emailStrength(user.profile, user.proofs ?? []);

function changed(user: User, { profile = {}, smsCredit, proofs, ...flags }: UserChanges): User {
  const newProfile = withChanges(user.profile, profile);
  const newProofs = proofsAfter(newProfile, user.proofs ?? [], proofs);
  return withChanges(user, {
    ...flags,
    profile: newProfile,
    proofs: newProofs.length === 0 ? undefined : newProofs,
    ...(smsCredit !== undefined && {
      smsCredit: smsCredit === 'unlimited' ? undefined : smsCredit,
    }),
  });
}

/** Ends tokens and keys of an account. */
function endCredentialsOf(state: MemoryState, id: UserId): void {
  for (const key of state.keys.values()) if (key.userId === id) state.keys.delete(key.id);
  endTokensOf(state, id);
  endLoginsOf(state, id);
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
  for (const group of state.groups.values()) {
    if (sameUsername(group.owner, user.username)) removeGroup(state, group.id);
    else state.groups.set(group.id, { ...group, usernames: without(group, user.username) });
  }
  for (const social of state.socials.values()) {
    if (isSocialOf(social, user.username)) removeSocial(state, social.id);
  }
  for (const { notification } of state.notifications.values()) {
    if (!sameUsername(notification.owner, user.username)) continue;
    removeDeliveriesOf(state, { kind: 'notification', id: notification.id });
    state.notifications.delete(notification.id);
  }
  state.retentions.delete(retentionKey({ kind: 'user', username: user.username }));
  endCredentialsOf(state, id);
  state.users.delete(id);
  return { devices, gateways };
}

function without({ usernames }: Group, gone: Username): readonly Username[] {
  return usernames.filter((member) => !sameUsername(member, gone));
}
