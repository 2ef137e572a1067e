import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { type Actor, guest, type KeyLimits } from '../actor.ts';
import {
  guestUsername,
  parseAccessKeyId,
  parseDeviceId,
  parseUserId,
  parseUsername,
} from '../ids.ts';
import { effectiveScopes, may, type PolicySettings } from './policy.ts';
import { type Resource, type ResourceKind, type Scope, scopesOf } from './scopes.ts';
import { createViewer, reaches } from './viewer.ts';

const open: PolicySettings = { publicPush: 'open' };
const granted: PolicySettings = { publicPush: 'granted' };

function anActor(name: string, kind: 'user' | 'admin' = 'user'): Exclude<Actor, { kind: 'guest' }> {
  return { kind, userId: parseUserId(`id-${name}`), username: parseUsername(name) };
}

function aKey(
  of: Actor,
  limits: { scopes?: readonly Scope[]; devices?: readonly string[] },
): Actor {
  assert.ok(of.kind !== 'guest');
  const key: KeyLimits = {
    keyId: parseAccessKeyId('key-1'),
    ...(limits.scopes && { scopes: new Set(limits.scopes) }),
    ...(limits.devices && { devices: new Set(limits.devices.map(parseDeviceId)) }),
  };
  return { ...of, key };
}

const [ama, kofi, admin] = [anActor('ama'), anActor('kofi'), anActor('root', 'admin')];

function aResource(
  kind: ResourceKind,
  visibility?: 'public' | 'private',
  owner = ama.username,
): Resource {
  return { kind, id: 'thing', owner, ...(visibility && { visibility }) };
}

const every = scopesOf.device;
const publicView = ['devices:view', 'devices-data:view'];
const publicPush = ['devices:view', 'devices-data:create', 'devices-data:view'];

interface Row {
  readonly about: string;
  readonly actor: Actor;
  readonly resource: Resource;
  readonly grants?: readonly Scope[];
  readonly settings?: PolicySettings;
  readonly rights: readonly string[];
}

const hidden = aResource('device', 'private');
const shown = aResource('device', 'public');
const absent = aResource('device');
const everybodys = aResource('device', 'public', guestUsername);

const rows: readonly Row[] = [
  { about: 'an owner', actor: ama, resource: hidden, rights: every },
  { about: 'an admin', actor: admin, resource: hidden, rights: every },
  { about: 'a stranger', actor: kofi, resource: hidden, rights: [] },
  { about: 'a guest', actor: guest, resource: hidden, rights: [] },
  { about: 'a stranger', actor: kofi, resource: shown, rights: publicPush },
  { about: 'a guest', actor: guest, resource: shown, rights: publicPush },
  { about: 'a guest', actor: guest, resource: absent, rights: publicPush },
  {
    about: 'a guest where pushing needs a grant',
    actor: guest,
    resource: shown,
    settings: granted,
    rights: publicView,
  },
  {
    about: 'a grantee where pushing needs a grant',
    actor: kofi,
    resource: shown,
    grants: ['devices-data:create'],
    settings: granted,
    rights: publicPush,
  },
  { about: 'a guest', actor: guest, resource: everybodys, rights: every },
  {
    about: 'a guest where pushing needs a grant',
    actor: guest,
    resource: everybodys,
    settings: granted,
    rights: every,
  },
  {
    about: 'a grantee',
    actor: kofi,
    resource: hidden,
    grants: ['devices-data:create'],
    rights: ['devices:view', 'devices-data:create'],
  },
  {
    about: 'a key for one scope',
    actor: aKey(ama, { scopes: ['devices-data:create'] }),
    resource: hidden,
    rights: ['devices-data:create'],
  },
  {
    about: 'a key for another device, even of an admin,',
    actor: aKey(admin, { devices: ['other'] }),
    resource: everybodys,
    rights: [],
  },
  {
    about: 'a key for this device',
    actor: aKey(ama, { devices: ['thing'] }),
    resource: hidden,
    rights: every,
  },
  {
    about: 'a key for some devices',
    actor: aKey(ama, { devices: ['thing'] }),
    resource: aResource('gateway'),
    rights: [],
  },
  { about: 'a guest', actor: guest, resource: aResource('gateway'), rights: ['gateways:view'] },
  { about: 'a guest', actor: guest, resource: aResource('gateway', 'private'), rights: [] },
  {
    about: 'a grantee',
    actor: kofi,
    resource: aResource('gateway', 'private'),
    grants: ['gateways:delete'],
    rights: ['gateways:view', 'gateways:delete'],
  },
  { about: 'a stranger', actor: kofi, resource: aResource('project'), rights: [] },
  { about: 'an owner', actor: ama, resource: aResource('project'), rights: scopesOf.project },
  {
    about: 'a grantee',
    actor: kofi,
    resource: aResource('project'),
    grants: ['projects:update'],
    rights: ['projects:update', 'projects:view'],
  },
];

for (const { about, actor, resource, grants = [], settings = open, rights } of rows) {
  const thing = `${resource.visibility ?? 'plain'} ${resource.kind} of ${resource.owner}`;
  const name = `${about}${grants.length > 0 ? ` of ${grants.join()}` : ''} on a ${thing}`;
  test(`${name} has ${rights.join() || 'no right'}`, () => {
    assert.deepEqual(effectiveScopes(actor, resource, grants, settings), rights);
  });
}

const actors = fc.constantFrom<Actor>(guest, ama, kofi, admin);
const kinds = fc.constantFrom<ResourceKind>('device', 'gateway', 'project');
const questions = kinds.chain((kind) =>
  fc.record({
    actor: actors,
    resource: fc
      .tuple(
        fc.constantFrom(undefined, 'public' as const, 'private' as const),
        fc.constantFrom(ama.username, kofi.username, guestUsername),
      )
      .map(([visibility, owner]) => aResource(kind, visibility, owner)),
    grants: fc.subarray<Scope>([...scopesOf[kind]]),
    settings: fc.constantFrom(open, granted),
  }),
);
const keyLimits = fc.record(
  {
    scopes: fc.subarray<Scope>([...scopesOf.device, ...scopesOf.gateway, ...scopesOf.project]),
    devices: fc.subarray(['thing', 'other']),
  },
  { requiredKeys: [] },
);

test('a key may nothing that its owner may not, and nothing beyond its scopes', () => {
  fc.assert(
    fc.property(questions, keyLimits, ({ actor, resource, grants, settings }, limits) => {
      fc.pre(actor.kind !== 'guest');
      const owners = effectiveScopes(actor, resource, grants, settings);
      const keys = effectiveScopes(aKey(actor, limits), resource, grants, settings);
      for (const scope of keys) {
        assert.ok(owners.includes(scope));
        assert.ok(limits.scopes === undefined || limits.scopes.includes(scope));
      }
    }),
  );
});

test('a grant never takes a right away, and gives what it says and the view', () => {
  fc.assert(
    fc.property(questions, ({ actor, resource, grants, settings }) => {
      fc.pre(actor.kind === 'user');
      const before = effectiveScopes(actor, resource, [], settings);
      const after = effectiveScopes(actor, resource, grants, settings);
      const view: Scope = `${resource.kind}s:view`;
      const expected = new Set<Scope>([...before, ...grants, ...(grants.length > 0 ? [view] : [])]);
      assert.deepEqual(new Set(after), expected);
    }),
  );
});

test('the scopes told are exactly those that are allowed, in the order of the API', () => {
  fc.assert(
    fc.property(questions, ({ actor, resource, grants, settings }) => {
      const told = effectiveScopes(actor, resource, grants, settings);
      const allowed = scopesOf[resource.kind].filter((scope) =>
        may(actor, scope, resource, grants, settings),
      );
      assert.deepEqual(told, allowed);
    }),
  );
});

test('nobody but the owner, admins and grantees reads what is private', () => {
  fc.assert(
    fc.property(kinds, fc.constantFrom(open, granted), (kind, settings) => {
      for (const actor of [guest, kofi]) {
        const rights = effectiveScopes(actor, aResource(kind, 'private'), [], settings);
        assert.deepEqual(rights, []);
      }
    }),
  );
});

test('the reach of an actor as data says what the policy says', async () => {
  const owners = fc.constantFrom(ama.username, kofi.username, guestUsername);
  const resources = fc.record({
    id: fc.constantFrom('a', 'b', 'c'),
    owner: owners,
    visibility: fc.constantFrom('public', 'private', undefined),
  });
  const limits = fc.record(
    {
      scopes: fc.subarray<Scope>([...every]),
      devices: fc.subarray(['a', 'b', 'c']),
    },
    { requiredKeys: [] },
  );
  const actors = fc.oneof(
    fc.constantFrom<Actor>(guest, ama, kofi, admin),
    fc.tuple(fc.constantFrom<Actor>(ama, kofi, admin), limits).map(([of, key]) => aKey(of, key)),
  );
  const grants = fc.record({
    a: fc.subarray<Scope>([...every]),
    b: fc.subarray<Scope>([...every]),
  });
  await fc.assert(
    fc.asyncProperty(actors, resources, grants, async (actor, { visibility, ...head }, given) => {
      const listReaching = async () =>
        Object.entries(given).flatMap(([resource, scopes]) =>
          scopes.length === 0 ? [] : [{ resource, scopes }],
        );
      const viewer = await createViewer({
        ...{ actor, kind: 'device', settings: open },
        grants: { listReaching },
      });
      const device = { ...head, ...(visibility !== undefined && { visibility }) };
      assert.equal(
        reaches(viewer.dataReach, device),
        viewer.may('devices-data:view', { kind: 'device', ...device }),
      );
    }),
  );
});

test('lists are given the ids that a user was granted, which are searched once', async () => {
  let searches = 0;
  const { visibleTo, concernedWith, dataReach } = await createViewer({
    ...{ actor: ama, kind: 'device', settings: open },
    grants: {
      listReaching: async () => {
        searches += 1;
        return [{ resource: 'a', scopes: ['devices:view'] }];
      },
    },
  });
  for (const { who } of [visibleTo, concernedWith, dataReach]) {
    assert.deepEqual(who, { username: ama.username, reached: new Set(['a']) });
  }
  assert.equal(searches, 1);
});
