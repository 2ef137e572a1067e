import assert from 'node:assert/strict';
import test, { after, before } from 'node:test';
import { type Call, type Reply, type Service, startService } from '../service.ts';
import { aNotification } from './a-notification.ts';
import { filled, type Operation, operationsOf, type Parameter } from './documented-operations.ts';
import { assertDone, assertRefused } from './refusal.ts';

let service: Service;
let operations: readonly Operation[];
let admin: (request: Omit<Call, 'token'>) => Promise<Reply>;
const here: Record<string, string> = {
  device_id: 'D',
  sensor_id: 'TC1',
  actuator_id: 'pump',
  gateway_id: 'G',
  project_id: 'P',
  username: 'victim',
};

before(async () => {
  service = await startService();
  admin = service.as('admin');
  await service.tokenOf('victim');
  const { json: users } = await admin({ path: '/users?username=victim' });
  here['user_id'] = (users as { id: string }[])[0]?.id ?? '';
  here['key_id'] = 'unknown';
  here['session_id'] = 'unknown';
  here['group_id'] = 'unknown';
  here['social_id'] = 'unknown';
  here['correction_id'] = 'unknown';
  here['notification_id'] = await aNotification(admin);
  here['channel'] = 'unknown';
  const device = { id: 'D', sensors: [{ id: 'TC1' }], actuators: [{ id: 'pump', value: 1 }] };
  assertDone(await admin({ method: 'POST', path: '/devices', json: device }));
  await admin({ method: 'POST', path: '/gateways', json: { id: 'G' } });
  await admin({ method: 'POST', path: '/projects', json: { id: 'P' } });
  operations = await operationsOf(service);
});

after(() => service[Symbol.asyncDispose]());

const dates = ['yesterday', '2026-02-30', '2026-01-01T25:00:00Z', '1', 'NaN', '%00', '2026-1-1'];
const numbers = ['-1', '1.5', 'x', '1e2', '1e999', 'NaN', '0x1', 'Infinity', '%00', '%20', '--1'];

/** Texts that the parameter must refuse, by what the reference says of it. */
function badTexts({ name, schema }: Parameter): readonly string[] {
  if (schema.type === 'integer') return numbers;
  if (schema.type === 'boolean') return ['yes', '1', 'TRUE', 'null', '%00'];
  if (schema.enum !== undefined) return ['nonsense', 'ASC', '0', '%00', 'toString', '__proto__'];
  if (schema.format === 'date-time') return dates;
  if (name === 'q') return ['owner==', '==', '%27', 'name~=(', 'x'.repeat(5_000)];
  // Any text may be looked for.
  return [];
}

test('every query parameter of every path is refused when it is wrong, by its name', async () => {
  const withQuery = operations.filter(({ query }) => query.length > 0);
  assert.ok(withQuery.length >= 4);
  for (const { name, method, path, query } of withQuery) {
    for (const parameter of query) {
      for (const bad of badTexts(parameter)) {
        const target = `${filled(path, here)}?${parameter.name}=${bad}`;
        // Both spellings of a date are named by one of them.
        const saying = new RegExp(parameter.name.replace(/_?(from|to)$/i, '_?$1'), 'i');
        const reply = await admin({ method, path: target });
        assertRefused(reply, 400, { saying, of: `${name} ${parameter.name}=${bad.slice(0, 60)}` });
      }
    }
  }
});

test('a query parameter given twice is refused', async () => {
  for (const { name, method, path, query } of operations) {
    for (const { name: parameter, schema } of query) {
      if (schema.type === 'array') continue;
      const target = `${filled(path, here)}?${parameter}=1&${parameter}=1`;
      const reply = await admin({ method, path: target });
      assertRefused(reply, 400, { saying: new RegExp(parameter), of: `${name} ${parameter}` });
    }
  }
});

test('strange query strings harm nothing', async () => {
  const strange = ['?', '?&&&', '?=', '?=1', '?%', '?%zz=1', '?limit', '?limit=%', '?a[b]=1', '??'];
  strange.push(
    '?__proto__=1',
    '?__proto__[x]=1',
    '?constructor=1&toString=2',
    '?%ff=%ff',
    '?q=%ff',
  );
  strange.push(`?${'a=1&'.repeat(1_000)}`, '?limit[]=5', '?q[$ne]=x', '?limit=1;offset=2');
  for (const { method, path, query } of operations) {
    if (query.length === 0) continue;
    for (const text of strange) {
      const reply = await admin({ method, path: `${filled(path, here)}${text}` });
      // A write without a body has nothing to store.
      if (reply.status === 200 || reply.status === 204) continue;
      assertRefused(reply, 400, { of: `${method} ${path} ${text.slice(0, 60)}` });
    }
  }
  assert.equal(Reflect.get({}, 'x'), undefined);
});

const correction = { timestamp: '2026-01-01T00:00:00Z', value: 1 };

/** A request that would succeed, were it not for the path. */
function validRequest({ method, path, body }: Operation): Omit<Call, 'path' | 'token'> {
  if (body === undefined) return { method };
  const [, kind = ''] = /^\/(\w+)s\/.*\/grants\/(groups\/)?\{\w+\}$/.exec(path) ?? [];
  if (kind !== '') return { method, json: [`${kind}:view`] };
  if (path.endsWith('/values') && method === 'PATCH') return { method, json: [correction] };
  if (path.endsWith('value_type')) return { method, body: 'bool' };
  if (path.endsWith('/usernames')) return { method, json: ['victim'] };
  if (path.endsWith('_ids')) return { method, json: ['D'] };
  if (path.endsWith('/status')) return { method, body: 'active' };
  if (path.endsWith('/owner')) return { method, body: 'victim' };
  if (path.endsWith('/visibility')) return { method, body: 'public' };
  if (path.endsWith('/measures')) return { method, body: 'gauge' };
  if (path.endsWith('/location')) return { method, body: '1,2' };
  if (path.endsWith('/deployed')) return { method, body: 'true' };
  if (path.endsWith('/sms_credit')) return { method, body: '5' };
  if (path.endsWith('/password')) return { method, body: 'long enough' };
  if (path.endsWith('/timezone')) return { method, body: 'Africa/Dakar' };
  if (path.endsWith('/calib')) return { method, json: null };
  return body.kind === 'bare' ? { method, json: 'x' } : { method, json: { id: 'new' } };
}

/** What a request has to say in its query. */
const neededQuery = ({ method, path }: Operation): string =>
  method === 'DELETE' && path.endsWith('/values') ? '?all=true' : '';

const badIds = [
  'a%20b',
  'a%2Fb',
  '%00',
  'caf%C3%A9',
  'a%25b',
  '%3Cscript%3E',
  `${'x'.repeat(257)}`,
];
const brokenEscapes = ['%', '%zz', '%f', '%ff', '%c0%af', '%ed%a0%80', 'a%'];

const strictIds = new Set([
  'device_id',
  'sensor_id',
  'actuator_id',
  'gateway_id',
  'project_id',
  'social_id',
]);

test('every id in every path is refused when it breaks the rule', async () => {
  for (const operation of operations) {
    for (const [, parameter = ''] of operation.path.matchAll(/\{(\w+)\}/g)) {
      const isStrict = strictIds.has(parameter);
      for (const bad of [...badIds, ...brokenEscapes]) {
        const path = filled(operation.path, { ...here, [parameter]: bad });
        const reply = await admin({ ...validRequest(operation), path });
        const of = `${operation.name} with ${parameter} ${bad.slice(0, 60)}`;
        // Users and keys are looked up; a text that nobody has may also be just that.
        if (isStrict || reply.status !== 404) assertRefused(reply, 400, { of });
        else assertRefused(reply, 404, { of });
      }
    }
  }
});

test('an id that nothing has is 404 in every path', async () => {
  const unknownIds = ['unknown', '__proto__', 'constructor', 'toString', 'hasOwnProperty', '@:[]'];
  for (const operation of operations) {
    for (const [, parameter = ''] of operation.path.matchAll(/\{(\w+)\}/g)) {
      // Taking rights from somebody who has none is done at once.
      const isTaken = parameter === 'username' || operation.path.endsWith('/groups/{group_id}');
      if (operation.method === 'DELETE' && isTaken && operation.path.includes('/grants/')) continue;
      // The name of a key's owner or user is no id of ours where the words of the rule differ.
      // A notification id that cannot be one is 400 [contract 2].
      const unknown =
        parameter === 'notification_id'
          ? ['f'.repeat(24)]
          : parameter === 'username'
            ? ['unknown', 'toString']
            : unknownIds;
      for (const id of unknown) {
        const path = filled(operation.path, { ...here, [parameter]: encodeURIComponent(id) });
        const reply = await admin({
          ...validRequest(operation),
          path: path + neededQuery(operation),
        });
        assertRefused(reply, 404, { of: `${operation.name} with ${parameter} ${id}` });
      }
    }
  }
  const { json } = await admin({ path: '/devices' });
  assert.deepEqual(
    (json as { id: string }[]).map(({ id }) => id),
    ['D'],
  );
});

test('half characters and NUL in texts are refused, or come back as they were sent', async () => {
  for (const text of ['a\u0000b', '\u0000', '\ud800', 'x\udc00y', '\ufeff', '\u2028', '\uffff']) {
    const json = { id: 'Odd', name: text, domain: text, meta: { [text]: text } };
    const escaped = JSON.stringify(json);
    const created = await admin({ method: 'POST', path: '/devices', json });
    if (created.status === 400) {
      assertRefused(created, 400);
      continue;
    }
    assertDone(created, escaped);
    const put = { method: 'PUT', path: '/devices/Odd/name', json: text };
    assertDone(await admin(put), escaped);
    const { json: device } = await admin({ path: '/devices/Odd' });
    const { name, domain, meta } = device as typeof json;
    assert.deepEqual({ id: 'Odd', name, domain, meta }, json, escaped);
    assertDone(await admin({ method: 'DELETE', path: '/devices/Odd' }));
  }
});

test('keys that mean something to JavaScript are ignored like other unknown ones', async () => {
  const body = (fields: string) =>
    `{${fields},"__proto__":{"admin":true,"isAdmin":true},"constructor":{"prototype":{"x":1}}}`;
  const type = 'application/json';
  const device = body('"id":"Proto","sensors":[{"id":"S","__proto__":{"unit":"V"}}]');
  assertDone(await admin({ method: 'POST', path: '/devices', body: device, type }));
  const { json: made } = await admin({ path: '/devices/Proto' });
  assert.deepEqual((made as { sensors: unknown }).sensors, [{ id: 'S' }]);
  const user = body('"username":"proto","password":"long enough","toString":"x"');
  const reply = await service.call({ method: 'POST', path: '/users', body: user, type });
  assert.equal(reply.status, 200, reply.text);
  const { json: account } = await admin({ path: `/users/${reply.json}` });
  const keys = ['createdTime', 'devices', 'id', 'username'];
  assert.deepEqual(Object.keys(account as object).toSorted(), keys);
  assert.equal(Reflect.get({}, 'isAdmin'), undefined);
});
