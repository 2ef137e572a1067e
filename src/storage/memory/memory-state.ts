import type { Grant } from '../../domain/access/grant.ts';
import type { ResourceKind } from '../../domain/access/scopes.ts';
import type { Device } from '../../domain/devices/device.ts';
import type { AccessKeyId, DeviceId, SensorId, UserId, Username } from '../../domain/ids.ts';
import type { AccessKeyRecord, Bearer, TokenRecord } from '../../domain/users/credential-store.ts';
import type { User } from '../../domain/users/user.ts';

/** An account with what only logins need. */
export interface StoredUser {
  readonly user: User;
  readonly passwordHash: string;
}

/** What all stores of one memory engine share. Maps keep the order of creation. */
export interface MemoryState {
  readonly users: Map<UserId, StoredUser>;
  readonly tokens: Map<string, TokenRecord>;
  readonly keys: Map<AccessKeyId, AccessKeyRecord>;
  /** By grantKey. */
  readonly grants: Map<string, Grant>;
  readonly devices: Map<DeviceId, Device>;
  /** Drops the datapoints of a device or sensor that went. */
  forgetDatapoints: (deviceId: DeviceId, sensorId?: SensorId) => void;
}

export function createMemoryState(): MemoryState {
  return {
    users: new Map(),
    tokens: new Map(),
    keys: new Map(),
    grants: new Map(),
    devices: new Map(),
    forgetDatapoints: () => undefined,
  };
}

/** Usernames are one whatever their case. */
export function sameUsername(a: string, b: string): boolean {
  return a.toLowerCase() === b.toLowerCase();
}

export function findByUsername(state: MemoryState, username: string): StoredUser | undefined {
  for (const stored of state.users.values()) {
    if (sameUsername(stored.user.username, username)) return stored;
  }
  return undefined;
}

/** The enabled account with this id as a credential shows it. */
export function bearerOf(state: MemoryState, id: UserId): Bearer | undefined {
  const user = state.users.get(id)?.user;
  if (user === undefined || user.isDisabled) return undefined;
  return { userId: user.id, username: user.username, isAdmin: user.isAdmin };
}

export function endTokensOf(state: MemoryState, id: UserId): void {
  for (const token of state.tokens.values()) {
    if (token.userId === id) state.tokens.delete(token.hash);
  }
}

/** Who owns this now; undefined when it does not exist. */
export function ownerOf(
  state: MemoryState,
  kind: ResourceKind,
  resource: string,
): Username | undefined {
  return kind === 'device' ? state.devices.get(resource as DeviceId)?.owner : undefined;
}

export function grantKey(kind: ResourceKind, resource: string, username: string): string {
  return JSON.stringify([kind, resource, username.toLowerCase()]);
}

/** Removes a device with everything that hangs on it. */
export function removeDevice(state: MemoryState, id: DeviceId): void {
  state.devices.delete(id);
  for (const [key, grant] of state.grants) {
    if (grant.kind === 'device' && grant.resource === id) state.grants.delete(key);
  }
  state.forgetDatapoints(id);
}

/** The object after changes in which undefined means "remove this". */
export function withChanges<Value extends object>(value: Value, changes: object): Value {
  const merged = Object.entries({ ...value, ...changes }).filter(
    ([, field]) => field !== undefined,
  );
  // The same fields with the same types: changes are typed by the caller's interface.
  return Object.fromEntries(merged) as Value;
}
