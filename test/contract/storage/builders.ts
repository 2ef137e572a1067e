import type { ResourceKind } from '../../../src/domain/access/scopes.ts';
import type { VisibleTo } from '../../../src/domain/access/viewer.ts';
import type { Actuator } from '../../../src/domain/devices/actuator.ts';
import type { Device, Sensor } from '../../../src/domain/devices/device.ts';
import type { Gateway } from '../../../src/domain/gateways/gateways.ts';
import type { Group } from '../../../src/domain/groups/groups.ts';
import type {
  AccessKeyId,
  ActuatorId,
  DeviceId,
  GatewayId,
  GroupId,
  ProjectId,
  SensorId,
  SocialId,
  UserId,
  Username,
} from '../../../src/domain/ids.ts';
import type { Project } from '../../../src/domain/projects/projects.ts';
import type { Social } from '../../../src/domain/socials/socials.ts';
import type {
  AccessKeyRecord,
  SessionRecord,
  TokenBasis,
  TokenRecord,
} from '../../../src/domain/users/credential-store.ts';
import type { NewUser } from '../../../src/domain/users/user.ts';
import type { Instant } from '../../../src/lib/clock.ts';
import type { Storage } from '../../../src/storage/storage.ts';

// Tests choose names that the parse functions would let through, or that no client could send.
export const deviceId = (text: string): DeviceId => text as DeviceId;
export const sensorId = (text: string): SensorId => text as SensorId;
export const actuatorId = (text: string): ActuatorId => text as ActuatorId;
export const gatewayId = (text: string): GatewayId => text as GatewayId;
export const projectId = (text: string): ProjectId => text as ProjectId;
export const groupId = (text: string): GroupId => text as GroupId;
export const socialId = (text: string): SocialId => text as SocialId;
export const userId = (text: string): UserId => text as UserId;
export const username = (text: string): Username => text as Username;
export const keyId = (text: string): AccessKeyId => text as AccessKeyId;

/** A moment that tests start from. */
export const noon: Instant = Date.UTC(2026, 10, 20, 12);

/** A sensor that says nothing of itself. */
export function aSensor(id: string, fields: Omit<Sensor, 'id'> = {}): Sensor {
  return { id: sensorId(id), ...fields };
}

/** An actuator that says nothing of itself. */
export function anActuator(id: string, fields: Omit<Actuator, 'id'> = {}): Actuator {
  return { id: actuatorId(id), ...fields };
}

/** A public device of alice's without sensors. */
export function aDevice(id: string, fields: Partial<Omit<Device, 'id'>> = {}): Device {
  return {
    id: deviceId(id),
    owner: username('alice'),
    sensors: [],
    actuators: [],
    createdAt: noon,
    modifiedAt: noon,
    ...fields,
  };
}

/** A public gateway of alice's that was never seen. */
export function aGateway(id: string, fields: Partial<Omit<Gateway, 'id'>> = {}): Gateway {
  const owner = username('alice');
  return { id: gatewayId(id), owner, createdAt: noon, modifiedAt: noon, ...fields };
}

/** An empty project of alice's. */
export function aProject(id: string, fields: Partial<Omit<Project, 'id'>> = {}): Project {
  const owner = username('alice');
  return { id: projectId(id), owner, deviceIds: [], gatewayIds: [], ...fields };
}

/** A group of alice's. */
export function aGroup(id: string, fields: Partial<Omit<Group, 'id'>> = {}): Group {
  const owner = username('alice');
  return { id: groupId(id), owner, name: `group ${id}`, usernames: [], ...fields };
}

/** What lists show this user, with all that was granted. */
export async function visibleToUser(
  { grants }: Pick<Storage, 'grants'>,
  kind: ResourceKind,
  name: string,
): Promise<VisibleTo & { readonly who: object }> {
  const reaching = await grants.listReaching(kind, username(name));
  const reached = new Set(reaching.map(({ resource }) => resource));
  return { who: { username: username(name), reached } };
}

/** An account whose id is `id-` and its username. */
export function aUser(name: string, fields: Partial<NewUser> = {}): NewUser {
  return {
    id: userId(`id-${name}`),
    username: username(name),
    createdAt: noon,
    profile: {},
    isAdmin: false,
    isDisabled: false,
    webhookSecret: `secret of ${name}`,
    ...fields,
  };
}

/** What tokens rest on in tests whose accounts have the password hash "hash". */
export const byPassword: TokenBasis = { kind: 'password', passwordHash: 'hash' };

/** A token of the account that `aUser` makes, good for ten minutes from noon. */
export function aToken(
  hash: string,
  owner: string,
  fields: Partial<Omit<TokenRecord, 'hash'>> = {},
): TokenRecord {
  const userIdOfOwner = userId(`id-${owner}`);
  return { hash, userId: userIdOfOwner, expiresAt: noon + 600_000, loggedInAt: noon, ...fields };
}

/** A browser of the account that `aUser` makes, which stays logged in. */
export function aLogin(
  id: string,
  owner: string,
  fields: Partial<Omit<SessionRecord, 'id'>> = {},
): SessionRecord {
  return {
    id,
    hash: `hash-${id}`,
    userId: userId(`id-${owner}`),
    name: 'Chrome on Android \u0000',
    address: '192.0.2.1',
    ...{ createdAt: noon, lastUsedAt: noon, expiresAt: noon + 86_400_000 },
    ...fields,
  };
}

/** An access key of the account that `aUser` makes. */
export function aKey(
  id: string,
  owner: string,
  fields: Partial<Omit<AccessKeyRecord, 'id'>> = {},
): AccessKeyRecord {
  return {
    id: keyId(id),
    hash: `hash-${id}`,
    userId: userId(`id-${owner}`),
    name: id,
    createdAt: noon,
    ...fields,
  };
}

/** A message from ana to bob that was recorded. */
export function aSocial(id: string, fields: { sender?: string; recipient?: string } = {}): Social {
  const { sender = 'ana', recipient = 'bob' } = fields;
  return {
    id: socialId(id),
    sender: username(sender),
    recipient: username(recipient),
    channel: 'none',
    message: `about ${id}`,
    createdAt: noon,
    status: 'sent',
  };
}
