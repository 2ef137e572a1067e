import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { dereferenced } from '../dereferenced.ts';
import { type Service, startService } from '../service.ts';
import { assertEmpty, type V1Door, v1Door } from './service-in-v1.ts';

interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
}

interface Operation {
  readonly responses: Readonly<
    Record<string, { readonly content?: Readonly<Record<string, { readonly schema: Schema }>> }>
  >;
}

interface Document {
  readonly info: { readonly title: string };
  readonly servers: readonly { readonly url: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

let service: Service;
let v1: V1Door;
let document: Document;
let token: string;

before(async () => {
  service = await startService();
  v1 = v1Door(service);
  const reply = await service.call({ path: '//docs/v1.json' });
  document = dereferenced(reply.json) as Document;
  token = await service.tokenOf('ama');
  const measurements = [{ id: 'TC1', meta: { any: 1 } }, { id: 'SM1' }];
  const sensor = { id: 'S', gateway_id: 'G', measurements, actuators: [{ id: 'pump', value: 1 }] };
  assertEmpty(await v1({ method: 'POST', path: '/sensors', token, json: sensor }));
  assertEmpty(await v1({ method: 'POST', path: '/gateways', token, json: { id: 'G' } }));
  const project = { id: 'P', sensor_ids: ['S'], gateway_ids: ['G'] };
  await v1({ method: 'POST', path: '/projects', token, json: project });
  const path = '/sensors/S/measurements/TC1/values';
  assertEmpty(await v1({ method: 'POST', path, token, json: [{ value: 1 }, { value: 2 }] }));
  await service.tokenOf('kofi');
  const grants = '/sensors/S/grants/kofi';
  assertEmpty(await v1({ method: 'PUT', path: grants, token, json: ['sensors:view'] }));
  const social = { username: 'kofi', channel: 'none', message: 'hi' };
  await v1({ method: 'POST', path: '/socials', token, json: social });
});

after(() => service[Symbol.asyncDispose]());

test('the reference offers version 1 beside version 2', async () => {
  const { text } = await service.call({ path: '//docs/start.js' });
  assert.match(text, /docs\/v2\.json.*docs\/v1\.json/);
  assert.match(document.info.title, /version 1/);
  assert.deepEqual(document.servers, [{ url: '/api/v1' }]);
});

test('the reference has every endpoint of version 1 that the specification names', () => {
  const named = [
    ...['POST /auth/token', 'GET /auth/permissions', 'POST /sensors', 'GET /sensors'],
    ...['GET /sensors/{sensor_id}', 'DELETE /sensors/{sensor_id}'],
    ...['name', 'gateway_id', 'domain', 'location', 'visibility'].map(
      (field) => `PUT /sensors/{sensor_id}/${field}`,
    ),
    'POST /sensors/{sensor_id}/measurements',
    'GET /sensors/{sensor_id}/measurements/{measurement_id}',
    'PUT /sensors/{sensor_id}/measurements/{measurement_id}/name',
    'POST /sensors/{sensor_id}/measurements/{measurement_id}/values',
    'GET /sensors/{sensor_id}/measurements/{measurement_id}/values',
    ...['GET /users', 'GET /users/{user_id}', 'POST /notifications'],
    'GET /notifications/{notification_id}',
    'DELETE /notifications/{notification_id}',
    'PUT /notifications/{notification_id}/status',
  ];
  for (const name of named) {
    const [method = '', path = ''] = name.split(' ');
    assert.ok(document.paths[path]?.[method.toLowerCase()] !== undefined, name);
  }
});

test('no word of version 2 is left in the reference', () => {
  const left = JSON.stringify(document).match(/.{0,40}(?<!\w)devices?(_ids?)?(?!\w).{0,20}/gi);
  assert.equal(left, null);
});

test('every success in the reference is 200', () => {
  for (const [path, operations] of Object.entries(document.paths)) {
    for (const [method, { responses }] of Object.entries(operations)) {
      const successes = Object.keys(responses).filter((status) => status < '300');
      assert.deepEqual(successes, ['200'], `${method} ${path}`);
    }
  }
});

const ids: Readonly<Record<string, string>> = {
  ...{ sensor_id: 'S', measurement_id: 'TC1', actuator_id: 'pump' },
  ...{ gateway_id: 'G', project_id: 'P' },
};

const queries: Readonly<Record<string, readonly string[]>> = {
  '/sensors_data': ['?sensor_id=S', '?sensor_id=S&aggregate=avg,count', '?sensor_id=S&points=2'],
  '/sensors/{sensor_id}/measurements/{measurement_id}/values': ['', '?aggregate=max', '?points=2'],
  '/sensors_data/last': ['?sensor_id=S'],
  '/gateways/{gateway_id}': ['?full=true'],
  '/projects/{project_id}': ['?full=true'],
};

/** Keys of the answer that the schema does not have; what the schema leaves free may hold any. */
function unknownKeys(answer: unknown, schemas: readonly Schema[], at: string): readonly string[] {
  const all = schemas.flatMap((schema) => [schema, ...(schema.anyOf ?? [])]);
  if (Array.isArray(answer)) {
    const items = all.flatMap(({ items }) => (items === undefined ? [] : [items]));
    return answer.flatMap((element) => unknownKeys(element, items, `${at}[]`));
  }
  const isOpen = !all.some(({ properties }) => properties !== undefined);
  if (typeof answer !== 'object' || answer === null || isOpen) return [];
  return Object.entries(answer).flatMap(([key, value]) => {
    const known = all.flatMap(({ properties = {} }) => properties[key] ?? []);
    return known.length === 0 ? [`${at}.${key}`] : unknownKeys(value, known, `${at}.${key}`);
  });
}

test('answers have the keys of the reference, also those that are written by hand', async () => {
  let seen = 0;
  for (const [path, { get }] of Object.entries(document.paths)) {
    const schema = get?.responses['200']?.content?.['application/json']?.schema;
    const target = path.replace(/\{(\w+)\}/g, (whole, name: string) => ids[name] ?? whole);
    if (schema === undefined || target.includes('{')) continue;
    for (const query of queries[path] ?? ['']) {
      const isForAdmins = path.startsWith('/admin/');
      const asker = isForAdmins ? await service.tokenOf('admin') : token;
      const { status, json, text } = await v1({ path: target + query, token: asker });
      if (path === '/auth/token') continue;
      assert.equal(status, 200, `${target}${query} ${text}`);
      assert.deepEqual(unknownKeys(json, [schema], target), []);
      seen += 1;
    }
  }
  assert.ok(seen > 20, `only ${seen} answers`);
});
