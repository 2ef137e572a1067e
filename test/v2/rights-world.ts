import assert from 'node:assert/strict';
import { type Service, startService } from '../service.ts';
import { type Asker, deviceScopes, type PublicPush } from './rights-oracle.ts';
import { type DeviceSubject, knownValue, owner } from './route-rights.ts';

/** A service with everybody and everything that the matrix of rights is about. */
export interface RightsWorld {
  readonly service: Service;
  readonly publicPush: PublicPush;
  readonly askers: readonly Asker[];
  /** Each owner with each visibility. */
  readonly devices: readonly DeviceSubject[];
  /** The token or key of the asker; undefined for the guest. */
  tokenOf(asker: Asker): string | undefined;
  /** The user id of the owner, or of the account that is there to be ended. */
  idOf(username: string): string;
  /** A group of the owner's. */
  readonly groupId: string;
  /** Makes the device anew as it was at first, with its grants and its values. */
  restore(device: DeviceSubject): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

const elsewhere: DeviceSubject = {
  id: 'elsewhere',
  owner,
  visibility: 'private',
  isPrivate: true,
};

const devices: readonly DeviceSubject[] = [
  ...[owner, 'guest'].flatMap((owner) =>
    (['public', 'private', undefined] as const).map((visibility) => ({
      id: `${owner}-${visibility ?? 'absent'}`,
      owner,
      visibility,
      // What is made without a token is public, whatever was asked for.
      isPrivate: visibility === 'private' && owner !== 'guest',
    })),
  ),
  elsewhere,
];

const named = (scope: string) => scope.replace(':', '-');

const grantees: readonly Asker[] = [
  ...deviceScopes.map((scope) => ({
    name: `grantee of ${scope}`,
    username: `grantee-${named(scope)}`,
    granted: [scope],
  })),
  { name: 'grantee of all', username: 'grantee-all', granted: deviceScopes },
];

/** The same rights by groups, and by projects that list the devices. */
const indirect: readonly Asker[] = [
  { name: 'member of a group', username: 'grantee-group', granted: deviceScopes, by: 'group' },
  {
    name: 'viewer of a project',
    username: 'grantee-project-view',
    granted: ['devices:view', 'devices-data:view'],
    by: 'project',
  },
  {
    name: 'editor of a project',
    username: 'grantee-project-edit',
    granted: ['devices:update', 'devices:delete'],
    by: 'project',
  },
  {
    name: 'pusher to a project',
    username: 'grantee-project-push',
    granted: ['devices-data:create'],
    by: 'project',
  },
];

/** What was granted on the projects. */
const projectScopes = new Map([
  ['grantee-project-view', ['projects:view']],
  ['grantee-project-edit', ['projects:update', 'projects:delete']],
  ['grantee-project-push', ['devices-data:create']],
]);

const keyed: readonly Asker[] = [
  { name: 'key of the owner', username: owner, key: {} },
  ...deviceScopes.map((scope) => ({
    name: `key of the owner for ${scope}`,
    username: owner,
    key: { scopes: [scope] },
  })),
  {
    name: 'key of the owner for another device',
    username: owner,
    key: { devices: [elsewhere.id] },
  },
  {
    name: 'key of the grantee of all for devices-data:view',
    username: 'grantee-all',
    granted: deviceScopes,
    key: { scopes: ['devices-data:view'] },
  },
];

const askers: readonly Asker[] = [
  { name: 'guest' },
  { name: 'stranger', username: 'stranger' },
  ...grantees,
  ...indirect,
  { name: 'owner', username: owner },
  { name: 'admin', username: 'admin', isAdmin: true },
  ...keyed,
];

/** Starts the service and makes the accounts, keys and devices. */
export async function createRightsWorld(publicPush: PublicPush): Promise<RightsWorld> {
  const environment = { KIPIMO_PUBLIC_PUSH: publicPush };
  const service = await startService({ environment });
  try {
    const tokens = await createCredentials(service);
    const ids = new Map<string, string>();
    for (const username of [owner, 'leaver']) {
      const me = await service.as(username)({ path: '/users/me' });
      ids.set(username, (me.json as { id: string }).id);
    }
    await service.tokenOf('spare');
    const groupId = await createGroup(service);
    for (const device of devices) await createDevice(service, device, groupId);
    await createProjects(service);
    return worldOf({ service, publicPush, tokens, ids, groupId });
  } catch (error) {
    // A service left open would keep the tests from ending.
    await service[Symbol.asyncDispose]();
    throw error;
  }
}

function worldOf(parts: {
  readonly service: Service;
  readonly publicPush: PublicPush;
  readonly tokens: ReadonlyMap<Asker, string>;
  readonly ids: ReadonlyMap<string, string>;
  readonly groupId: string;
}): RightsWorld {
  const { service, publicPush, tokens, ids, groupId } = parts;
  return {
    service,
    publicPush,
    askers,
    devices,
    tokenOf: (asker) => tokens.get(asker),
    groupId,
    idOf: (username) => ids.get(username) ?? '',
    async restore(device) {
      const reply = await service.as('admin')({ method: 'DELETE', path: `/devices/${device.id}` });
      assert.ok([204, 404].includes(reply.status), reply.text);
      await createDevice(service, device, groupId);
    },
    [Symbol.asyncDispose]: () => service[Symbol.asyncDispose](),
  };
}

async function createCredentials(service: Service): Promise<ReadonlyMap<Asker, string>> {
  const tokens = new Map<Asker, string>();
  for (const asker of askers) {
    if (asker.username === undefined) continue;
    const token = await service.tokenOf(asker.username);
    tokens.set(asker, asker.key === undefined ? token : await createKey(service, asker));
  }
  return tokens;
}

async function createKey(service: Service, { username = '', key = {} }: Asker): Promise<string> {
  const json = { name: 'of the matrix', ...key };
  const reply = await service.as(username)({ method: 'POST', path: '/auth/keys', json });
  assert.equal(reply.status, 200, reply.text);
  return (reply.json as { key: string }).key;
}

/** The group that those are in who are granted something by it. */
async function createGroup(service: Service): Promise<string> {
  const usernames = indirect.flatMap(({ by, username }) => (by === 'group' ? [username] : []));
  const json = { name: 'Tenants', usernames };
  const reply = await service.as(owner)({ method: 'POST', path: '/groups', json });
  assert.equal(reply.status, 200, reply.text);
  return reply.text;
}

/** One project with all devices for each who is granted something by one. */
async function createProjects(service: Service): Promise<void> {
  const as = service.as(owner);
  for (const [username, scopes] of projectScopes) {
    const json = { id: username, device_ids: devices.map(({ id }) => id) };
    assert.equal((await as({ method: 'POST', path: '/projects', json })).status, 200);
    const path = `/projects/${username}/grants/${username}`;
    assert.equal((await as({ method: 'PUT', path, json: scopes })).status, 204);
  }
}

async function createDevice(
  service: Service,
  device: DeviceSubject,
  groupId: string,
): Promise<void> {
  const { id, owner, visibility } = device;
  const asOwner = async (method: string, path: string, json: unknown) => {
    const reply = await service.as(owner)({ method, path, json });
    assert.equal(reply.status, 204, `${method} ${path}: ${reply.text}`);
  };
  await asOwner('POST', '/devices', {
    id,
    visibility,
    name: 'Secret garden',
    sensors: [{ id: 'TC1', name: 'Well' }],
    actuators: [{ id: 'pump', value: knownValue }],
  });
  await asOwner('POST', `/devices/${id}/sensors/TC1/value`, { value: knownValue });
  if (owner === 'guest') return;
  await asOwner('PUT', `/devices/${id}/grants/groups/${groupId}`, deviceScopes);
  await Promise.all(
    grantees.map(({ username, granted }) =>
      asOwner('PUT', `/devices/${id}/grants/${username}`, granted),
    ),
  );
}
