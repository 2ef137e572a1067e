import assert from 'node:assert/strict';
import test, { after, before } from 'node:test';
import { type Call, type Reply, type Service, startService } from '../service.ts';
import {
  type GroupAsker,
  type GroupRoute,
  type GroupSubject,
  groupRoutes,
  isAllowed,
  type Kind,
  landlord,
  rights,
  rightsOn,
  scopeOf,
} from './gateway-project-rights.ts';

const kinds: readonly Kind[] = ['gateway', 'project'];
let service: Service;
let groupId = '';
const tokens = new Map<GroupAsker, string>();

const grantees: readonly GroupAsker[] = [
  ...rights.map((right) => ({
    name: `grantee of ${right}`,
    username: `grantee-${right}`,
    granted: [right],
  })),
  { name: 'grantee of all', username: 'grantee-all', granted: rights },
];

const askers: readonly GroupAsker[] = [
  { name: 'guest' },
  { name: 'stranger', username: 'stranger' },
  ...grantees,
  { name: 'owner', username: landlord },
  { name: 'admin', username: 'admin', isAdmin: true },
  { name: 'key of the owner', username: landlord, key: {} },
  ...rights.map((right) => ({
    name: `key of the owner for ${right}`,
    username: landlord,
    key: { rights: [right] },
  })),
  { name: 'key of the owner for a device', username: landlord, key: { devices: ['d'] } },
  {
    name: 'key of the grantee of all for view',
    username: 'grantee-all',
    granted: rights,
    key: { rights: ['view'] },
  },
];

const subjects: readonly GroupSubject[] = [landlord, 'guest'].flatMap((owner) => [
  { kind: 'gateway', id: `${owner}-public`, owner, visibility: 'public' },
  { kind: 'gateway', id: `${owner}-private`, owner, visibility: 'private' },
  { kind: 'gateway', id: `${owner}-absent`, owner },
  { kind: 'project', id: `${owner}-project`, owner },
]);

before(async () => {
  service = await startService();
  await service.tokenOf('spare');
  for (const asker of askers) {
    const { username, key } = asker;
    if (username === undefined) continue;
    const token = await service.tokenOf(username);
    tokens.set(asker, key === undefined ? token : await createKey(username, key));
  }
  const json = { name: 'Tenants', usernames: ['spare'] };
  groupId = (await service.as(landlord)({ method: 'POST', path: '/groups', json })).text;
  for (const subject of subjects) await create(subject);
});

after(() => service[Symbol.asyncDispose]());

async function createKey(
  username: string,
  { rights: narrowed, devices }: NonNullable<GroupAsker['key']>,
): Promise<string> {
  const scopes = narrowed?.flatMap((right) => kinds.map((kind) => scopeOf(kind, right)));
  const json = { name: 'of the matrix', scopes, devices };
  const reply = await service.as(username)({ method: 'POST', path: '/auth/keys', json });
  assert.equal(reply.status, 200, reply.text);
  return (reply.json as { key: string }).key;
}

async function create({ kind, id, owner, visibility }: GroupSubject): Promise<void> {
  const as = service.as(owner);
  const json = { id, visibility, name: 'Secret garden' };
  const reply = await as({ method: 'POST', path: `/${kind}s`, json });
  assert.equal(reply.status, 200, reply.text);
  if (owner === 'guest') return;
  for (const { username, granted = [] } of grantees) {
    const path = `/${kind}s/${id}/grants/${username}`;
    const scopes = granted.map((right) => scopeOf(kind, right));
    assert.equal((await as({ method: 'PUT', path, json: scopes })).status, 204);
  }
}

async function restore(subject: GroupSubject): Promise<void> {
  const path = `/${subject.kind}s/${subject.id}`;
  const reply = await service.as('admin')({ method: 'DELETE', path });
  assert.ok([204, 404].includes(reply.status), reply.text);
  await create(subject);
}

function ask(asker: GroupAsker, call: Call): Promise<Reply> {
  const token = tokens.get(asker);
  return service.call(token === undefined ? call : { ...call, token });
}

/** What a refusal must not tell of a gateway or project. */
const secrets = /landlord|grantee|secret|garden|private/i;

async function faultsOf(
  name: string,
  route: GroupRoute,
  asker: GroupAsker,
  subject: GroupSubject,
): Promise<readonly string[]> {
  const [method = '', template = ''] = name.split(' ');
  const path = template
    .replace(`{${subject.kind}_id}`, subject.id)
    .replace('{username}', 'spare')
    .replace('{group_id}', groupId);
  const success = method === 'GET' ? 200 : 204;
  const expected = isAllowed(asker, subject, route) ? success : 403;
  const reply = await ask(asker, { method, path, ...route.sent });
  const faults: string[] = [];
  const say = (fault: string) => faults.push(`${asker.name}, ${subject.id}: ${fault}`);
  if (reply.status !== expected) say(`${reply.status} instead of ${expected} ${reply.text}`);
  if (reply.status === 403 && secrets.test(reply.text.replaceAll(subject.id, ''))) {
    say(`the refusal tells ${reply.text}`);
  }
  if (route.isDestructive === true && reply.status !== 403) await restore(subject);
  return faults;
}

for (const kind of kinds) {
  const ofKind = subjects.filter((subject) => subject.kind === kind);

  for (const [name, route] of Object.entries(groupRoutes[kind])) {
    test(`${name} is for those with ${route.needs}`, async () => {
      const faults: string[] = [];
      for (const subject of ofKind) {
        for (const asker of askers) faults.push(...(await faultsOf(name, route, asker, subject)));
      }
      assert.deepEqual(faults, []);
    });
  }

  test(`POST /${kind}s is for anybody, and for keys that may update ${kind}s`, async () => {
    for (const asker of askers) {
      const { key } = asker;
      const mayCreate =
        key?.devices === undefined && (key?.rights === undefined || key.rights.includes('update'));
      // A taken id: who may create at all is told so.
      const json = { id: ofKind[0]?.id };
      const { status } = await ask(asker, { method: 'POST', path: `/${kind}s`, json });
      assert.equal(status, mayCreate ? 422 : 403, asker.name);
    }
  });

  test(`GET /${kind}s leaves out what one may not view`, async () => {
    for (const asker of askers) {
      const reply = await ask(asker, { path: `/${kind}s?limit=1000` });
      assert.equal(reply.status, 200);
      const listed = (reply.json as readonly { id: string }[]).map(({ id }) => id);
      const expected = ofKind
        .filter((subject) => rightsOn(asker, subject).includes('view'))
        .map(({ id }) => id);
      assert.deepEqual(listed.toSorted(), expected.toSorted(), asker.name);
      assert.equal(reply.headers.get('x-total-count'), `${expected.length}`, asker.name);
    }
  });

  test(`GET /auth/permissions/${kind}s tells the rights one has`, async () => {
    for (const asker of askers) {
      const reply = await ask(asker, { path: `/auth/permissions/${kind}s` });
      const told = reply.json as readonly { resource: string; scopes: readonly string[] }[];
      const expected = ofKind
        .map((subject) => ({
          resource: subject.id,
          scopes: rightsOn(asker, subject).map((right) => scopeOf(kind, right)),
        }))
        .filter(({ scopes }) => scopes.length > 0);
      const byResource = (a: { resource: string }, b: { resource: string }) =>
        a.resource < b.resource ? -1 : 1;
      assert.deepEqual(told.toSorted(byResource), expected.toSorted(byResource), asker.name);
    }
  });
}
