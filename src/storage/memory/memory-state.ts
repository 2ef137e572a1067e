import type { Grant, GroupGrant, ReachingGrant } from '../../domain/access/grant.ts';
import type { ResourceKind } from '../../domain/access/scopes.ts';
import type { VisibleTo } from '../../domain/access/viewer.ts';
import type { Retention, RetentionScope } from '../../domain/datapoints/retention/retention.ts';
import type { Device } from '../../domain/devices/device.ts';
import type { Gateway } from '../../domain/gateways/gateway.ts';
import type { Group } from '../../domain/groups/group.ts';
import {
  type AccessKeyId,
  type DeviceId,
  type GatewayId,
  type GroupId,
  guestUsername,
  type NotificationId,
  type ProjectId,
  type SensorId,
  type SocialId,
  type UserId,
  type Username,
} from '../../domain/ids.ts';
import type { Message, SessionKey } from '../../domain/messaging/message.ts';
import type {
  SessionRecord,
  StoredEntry,
  Subscription,
} from '../../domain/messaging/session-store.ts';
import type { DeliverySource, NewDelivery } from '../../domain/notifications/delivery.ts';
import type { DeviceState, Notification, Tally } from '../../domain/notifications/notification.ts';
import type { Project } from '../../domain/projects/project.ts';
import type { Social } from '../../domain/socials/social.ts';
import type {
  AccessKeyRecord,
  Bearer,
  SessionRecord as LoginSessionRecord,
  TokenRecord,
} from '../../domain/users/credential-store.ts';
import type { User } from '../../domain/users/user.ts';

/** An account with what only logins need. */
export interface StoredUser {
  readonly user: User;
  readonly passwordHash: string;
  /** When it was last logged in to, by network; the newest last. */
  readonly networks?: ReadonlyMap<string, number>;
}

/** An MQTT session with what is kept for it. */
export interface KeptSession {
  record: SessionRecord;
  /** By filter. */
  readonly subscriptions: Map<string, Subscription>;
  /** By packet id. */
  readonly queue: Map<number, StoredEntry>;
  readonly received: Set<number>;
  /** Packet ids of datapoints that are stored. */
  readonly stored: Set<number>;
}

/** A notification with all that is kept of it. */
export interface KeptNotification {
  notification: Notification;
  tally: Tally;
  readonly states: Map<DeviceId, DeviceState>;
}

/** A delivery with what only the outbox needs. */
export interface KeptDelivery extends Omit<NewDelivery, 'isUnderWay'> {
  readonly source: DeliverySource;
  readonly payer: string;
  /** The random part of its id. */
  readonly token: string;
  readonly attempts: number;
  readonly createdAt: number;
  readonly isCharged: boolean;
}

/** The state that all stores of one memory engine share. Maps keep the order of creation. */
export interface MemoryState {
  readonly users: Map<UserId, StoredUser>;
  /** Bytes that strangers pushed to devices. */
  readonly strangerBytes: Map<DeviceId, number>;
  readonly tokens: Map<string, TokenRecord>;
  readonly keys: Map<AccessKeyId, AccessKeyRecord>;
  /** Browsers that stay logged in, by id. */
  readonly logins: Map<string, LoginSessionRecord>;
  /** By grantKey. */
  readonly grants: Map<string, Grant>;
  readonly groups: Map<GroupId, Group>;
  /** By groupGrantKey. */
  readonly groupGrants: Map<string, GroupGrant>;
  /** By project: grantKey-like texts of what grants on it reach. */
  readonly projectMembers: Map<ProjectId, ReadonlySet<string>>;
  readonly devices: Map<DeviceId, Device>;
  readonly gateways: Map<GatewayId, Gateway>;
  readonly projects: Map<ProjectId, Project>;
  readonly socials: Map<SocialId, Social>;
  readonly notifications: Map<NotificationId, KeptNotification>;
  /** By number, in order of filing. */
  readonly deliveries: Map<number, KeptDelivery>;
  lastDelivery: number;
  /** Messages of paid channels, by day, channel and payer. */
  readonly paidMessages: Map<string, number>;
  readonly mqttSessions: Map<SessionKey, KeptSession>;
  /** By topic. */
  readonly retained: Map<string, Message>;
  /** By retentionKey. */
  readonly retentions: Map<string, Retention>;
  /** Drops the datapoints of a device or sensor that went. */
  forgetDatapoints: (deviceId: DeviceId, sensorId?: SensorId) => void;
}

export function createMemoryState(): MemoryState {
  return {
    users: new Map(),
    strangerBytes: new Map(),
    tokens: new Map(),
    keys: new Map(),
    logins: new Map(),
    grants: new Map(),
    groups: new Map(),
    groupGrants: new Map(),
    projectMembers: new Map(),
    devices: new Map(),
    retentions: new Map(),
    gateways: new Map(),
    projects: new Map(),
    socials: new Map(),
    notifications: new Map(),
    deliveries: new Map(),
    lastDelivery: 0,
    paidMessages: new Map(),
    mqttSessions: new Map(),
    retained: new Map(),
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

/** Keeps the last login of an account, if the one that is kept lies before a time. */
export function keepLastLogin(state: MemoryState, id: UserId, at: number, before: number): void {
  const stored = state.users.get(id);
  if (stored === undefined || (stored.user.lastLoginAt ?? 0) >= before) return;
  state.users.set(id, { ...stored, user: { ...stored.user, lastLoginAt: at } });
}

/** Ends browsers that stay logged in, with the tokens that came from them. */
export function endLoginsOf(state: MemoryState, userId: UserId, except?: string): void {
  for (const login of state.logins.values()) {
    if (login.userId === userId && login.id !== except) removeLogin(state, login.id);
  }
}

export function removeLogin(state: MemoryState, id: string): void {
  state.logins.delete(id);
  for (const token of state.tokens.values()) {
    if (token.sessionId === id) state.tokens.delete(token.hash);
  }
}

/** The owner of a resource now; undefined when it does not exist. */
export function ownerOf(
  state: MemoryState,
  kind: ResourceKind,
  resource: string,
): Username | undefined {
  const { devices, gateways, projects } = state;
  if (kind === 'device') return devices.get(resource as DeviceId)?.owner;
  if (kind === 'gateway') return gateways.get(resource as GatewayId)?.owner;
  return projects.get(resource as ProjectId)?.owner;
}

export function grantKey(kind: ResourceKind, resource: string, username: string): string {
  return JSON.stringify([kind, resource, username.toLowerCase()]);
}

/** Where a retention is in the map. */
export function retentionKey(scope: RetentionScope): string {
  if (scope.kind === 'user') return JSON.stringify(['user', scope.username.toLowerCase()]);
  const { kind, deviceId } = scope;
  return JSON.stringify(kind === 'device' ? [kind, deviceId] : [kind, deviceId, scope.sensorId]);
}

/** Removes a device with everything that hangs on it. */
export function removeDevice(state: MemoryState, id: DeviceId): void {
  state.devices.delete(id);
  state.strangerBytes.delete(id);
  removeGrantsOn(state, 'device', id);
  state.forgetDatapoints(id);
}

/** Removes a gateway with its grants. */
export function removeGateway(state: MemoryState, id: GatewayId): void {
  state.gateways.delete(id);
  removeGrantsOn(state, 'gateway', id);
}

/** Removes a project with its grants. */
export function removeProject(state: MemoryState, id: ProjectId): void {
  state.projects.delete(id);
  state.projectMembers.delete(id);
  removeGrantsOn(state, 'project', id);
}

/** Ends every grant on something that goes, or that gets another owner. */
export function removeGrantsOn(state: MemoryState, kind: ResourceKind, resource: string): void {
  for (const [key, grant] of state.grants) {
    if (grant.kind === kind && grant.resource === resource) state.grants.delete(key);
  }
  removeGroupGrantsOn(state, kind, resource);
}

function removeGroupGrantsOn(
  { groupGrants }: MemoryState,
  kind: ResourceKind,
  resource: string,
): void {
  for (const [key, grant] of groupGrants) {
    if (grant.kind === kind && grant.resource === resource) groupGrants.delete(key);
  }
}

/** Removes a group with what was granted to it. */
export function removeGroup({ groups, groupGrants }: MemoryState, id: GroupId): void {
  groups.delete(id);
  for (const [key, { groupId }] of groupGrants) if (groupId === id) groupGrants.delete(key);
}

/** A thing as a member of a project. */
export const memberKey = (kind: ResourceKind, resource: string): string =>
  JSON.stringify([kind, resource]);

/** Grants to groups that reach `username`, on things of this kind. */
function reachingByGroups(
  { groups, groupGrants }: MemoryState,
  kind: ResourceKind,
  username: Username,
): readonly ReachingGrant[] {
  return [...groupGrants.values()].filter(
    (grant) =>
      grant.kind === kind &&
      groups.get(grant.groupId)?.usernames.some((member) => sameUsername(member, username)),
  );
}

/** Grants of projects that reach `username`, on things of this kind that their owners own. */
function reachingByProjects(
  state: MemoryState,
  kind: ResourceKind,
  username: Username,
): readonly ReachingGrant[] {
  if (kind === 'project') return [];
  const things = kind === 'device' ? state.devices : state.gateways;
  return reachingOf(state, 'project', username).flatMap(({ resource, scopes }) => {
    const project = state.projects.get(resource as ProjectId);
    const members = project && state.projectMembers.get(project.id);
    return [...things.values()]
      .filter(({ id, owner }) => members?.has(memberKey(kind, id)) && owner === project?.owner)
      .map(({ id }) => ({ resource: id, scopes }));
  });
}

/** Grants of groups and projects that reach `username`, on things of this kind. */
export function reachingIndirectly(
  state: MemoryState,
  kind: ResourceKind,
  username: Username,
): readonly ReachingGrant[] {
  return [...reachingByGroups(state, kind, username), ...reachingByProjects(state, kind, username)];
}

/** Everything of this kind that any grant reaches for `username`. */
export function reachingOf(
  state: MemoryState,
  kind: ResourceKind,
  username: Username,
): readonly ReachingGrant[] {
  const direct = [...state.grants.values()].filter(
    (grant) => grant.kind === kind && sameUsername(grant.username, username),
  );
  return [...direct, ...reachingIndirectly(state, kind, username)];
}

/** Removes a social message with its delivery. */
export function removeSocial(state: MemoryState, id: SocialId): boolean {
  removeDeliveriesOf(state, { kind: 'social', id });
  return state.socials.delete(id);
}

/** Removes the deliveries of a notification or social message. */
export function removeDeliveriesOf({ deliveries }: MemoryState, gone: DeliverySource): void {
  for (const [position, { source }] of deliveries) {
    if (source.kind === gone.kind && source.id === gone.id) deliveries.delete(position);
  }
}

/** Whether this user sent or received the message. */
export function isSocialOf({ sender, recipient }: Social, username: Username): boolean {
  return sameUsername(sender, username) || sameUsername(recipient, username);
}

/** The fields that lists go by; a project is listed as a private thing. */
export interface Listed {
  readonly id: string;
  readonly owner: Username;
  readonly visibility?: 'public' | 'private';
  readonly createdAt?: number;
}

/** Whether a list for this viewer shows the thing. */
export function isVisible(
  state: MemoryState,
  kind: ResourceKind,
  { id, owner, visibility, createdAt = 0 }: Listed,
  { who, only, madeBy }: VisibleTo,
): boolean {
  if (only !== undefined && !only.has(id)) return false;
  if (madeBy !== undefined && typeof who !== 'string') {
    if (createdAt > madeBy && !sameUsername(owner, who.username)) return false;
  }
  if (who === 'everything' || visibility !== 'private' || owner === guestUsername) return true;
  if (who === 'public') return false;
  if (sameUsername(owner, who.username)) return true;
  return reachingOf(state, kind, who.username).some(({ resource }) => resource === id);
}
