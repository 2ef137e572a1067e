import assert from 'node:assert/strict';
import test, { after, before } from 'node:test';
import { createManualClock } from '../manual-clock.ts';
import { type Reply, type Service, startService } from '../service.ts';
import { assertDone, assertRefused } from './refusal.ts';

const start = Date.parse('2026-03-01T08:00:00.000Z');
const clock = createManualClock(start);
let service: Service;

before(async () => {
  service = await startService({ clock });
  await service.tokenOf('kofi');
  const json = { id: 'D', sensors: [{ id: 'TC1' }] };
  assertDone(await service.as('ama')({ method: 'POST', path: '/devices', json }));
});

after(() => service[Symbol.asyncDispose]());

/** Bytes go without a Content-Type unless one is given; text/plain is said by name. */
const put = (field: string, body: string, type: string): Promise<Reply> =>
  service.as('ama')({
    method: 'PUT',
    path: `/devices/D/${field}`,
    body: new TextEncoder().encode(body),
    type,
  });

async function fieldOf(field: string): Promise<unknown> {
  const reply = await service.as('ama')({ path: '/devices/D' });
  return (reply.json as Record<string, unknown>)[field];
}

const text = 'text/plain';
const textUtf8 = 'text/plain; charset=utf-8';
const json = 'application/json';
const jsonUtf8 = 'application/json;charset=UTF-8';

/** field, content type, body, what is read back afterwards; undefined: the key is gone. */
const settings: readonly (readonly [string, string, string, unknown])[] = [
  ...['name', 'domain', 'gateway_id'].flatMap((field) => [
    [field, text, 'North-1', 'North-1'] as const,
    [field, textUtf8, 'North-2', 'North-2'] as const,
    [field, 'TEXT/PLAIN;charset="utf-8"', 'North-3', 'North-3'] as const,
    [field, '', 'North-4', 'North-4'] as const,
    [field, json, '"North-5"', 'North-5'] as const,
    [field, jsonUtf8, '"North-6"', 'North-6'] as const,
    [field, json, 'North-7', 'North-7'] as const,
    [field, json, '0012', '0012'] as const,
    [field, json, '80029c641ec4', '80029c641ec4'] as const,
    [field, json, '1e5', '1e5'] as const,
    [field, json, '12345678901234567890', '12345678901234567890'] as const,
    [field, json, 'nan', 'nan'] as const,
    [field, json, 'null', undefined] as const,
  ]),
  ['name', text, 'Two words, one comma', 'Two words, one comma'],
  ['name', text, 'line one\nline two', 'line one\nline two'],
  ['name', json, 'North field é', 'North field é'],
  ['name', json, '"say \\"hi\\" \\u00e9"', 'say "hi" é'],
  ['name', text, '{"not":"parsed"}', '{"not":"parsed"}'],
  ['visibility', text, 'private', 'private'],
  ['visibility', json, '"public"', 'public'],
  ['visibility', json, 'private', 'private'],
  ['location', json, '{"latitude":5.36,"longitude":-4.01}', { latitude: 5.36, longitude: -4.01 }],
  ['location', text, '{"latitude":-90,"longitude":-180}', { latitude: -90, longitude: -180 }],
  ['location', '', '{"latitude":90,"longitude":180}', { latitude: 90, longitude: 180 }],
  ['location', text, '5.6,-0.2', { latitude: 5.6, longitude: -0.2 }],
  ['location', text, ' -90 , 180 ', { latitude: -90, longitude: 180 }],
  ['location', json, '7,8', { latitude: 7, longitude: 8 }],
  ['location', json, '"9.5,8.25"', { latitude: 9.5, longitude: 8.25 }],
  ['location', json, '{"latitude":1,"longitude":2,"accuracy":9}', { latitude: 1, longitude: 2 }],
  ['location', json, 'null', undefined],
  ['meta', json, '{"crop":"rice","deep":{"a":[1,null]}}', { crop: 'rice', deep: { a: [1, null] } }],
  ['meta', text, '{"crop":"maize"}', { crop: 'maize' }],
  ['meta', json, '[1,"2",false]', [1, '2', false]],
  ['meta', json, '"note"', 'note'],
  ['meta', json, '42.5', 42.5],
  ['meta', json, 'false', false],
  ['meta', text, 'a plain note', 'a plain note'],
  ['meta', json, '{"constructor":1,"toString":"x"}', { constructor: 1, toString: 'x' }],
  ['meta', json, 'null', undefined],
  ['deployed', json, 'true', true],
  ['deployed', text, 'false', false],
  ['deployed', textUtf8, 'true', true],
  ['deployed', json, 'null', undefined],
];

test('every field takes its value as text, as JSON and as raw text under a JSON type', async () => {
  for (const [field, type, body, expected] of settings) {
    const of = `${field} as ${type}: ${body}`;
    assertDone(await put(field, body, type), of);
    assert.deepEqual(await fieldOf(field), expected, of);
  }
});

const refused: readonly (readonly [string, string, string])[] = [
  ['name', text, 'x'.repeat(5_000)],
  ['name', json, '{"name":"x"}'],
  ['name', json, '["x"]'],
  ['name', json, '"open'],
  ['gateway_id', text, 'with space'],
  ['gateway_id', text, 'x'.repeat(257)],
  ['visibility', text, 'secret'],
  ['visibility', text, 'Public'],
  ['visibility', json, '{"visibility":"public"}'],
  ['visibility', json, 'true'],
  ['location', text, 'somewhere'],
  ['location', text, '5.6'],
  ['location', text, '1,2,3'],
  ['location', text, '90.1,0'],
  ['location', text, '0,-180.5'],
  ['location', json, '{"latitude":-90.01,"longitude":0}'],
  ['location', json, '{"latitude":0,"longitude":181}'],
  ['location', json, '{"latitude":1}'],
  ['location', json, '{"longitude":1}'],
  ['location', json, '{"latitude":"1","longitude":2}'],
  ['location', json, '{"latitude":null,"longitude":2}'],
  ['location', json, '{"latitude":1e999,"longitude":2}'],
  ['location', json, '{"latitude":NaN,"longitude":2}'],
  ['location', json, '[1,2]'],
  ['location', json, 'true'],
  ['location', json, '5'],
  ['deployed', text, 'yes'],
  ['deployed', json, '1'],
  ['deployed', json, '"true "x'],
  ['meta', json, '{"a":'],
  ['meta', json, JSON.stringify('x'.repeat(70_000))],
  ['owner', json, 'null'],
  ['owner', text, 'two words'],
  ['owner', text, 'guest'],
];

test('a value that the field cannot have is refused with 400 and changes nothing', async () => {
  const before = await service.as('ama')({ path: '/devices/D' });
  clock.advance(1_000);
  for (const [field, type, body] of refused) {
    const of = `${field} as ${type}: ${body.slice(0, 60)}`;
    assertRefused(await put(field, body, type), 400, { of });
  }
  for (const field of ['name', 'domain', 'gateway_id', 'visibility', 'location', 'meta']) {
    for (const type of [text, json, '']) {
      assertRefused(await put(field, '', type), 400, { saying: /empty/, of: field });
    }
  }
  for (const type of ['application/xml', 'text/html', 'application/x-www-form-urlencoded']) {
    assertRefused(await put('name', 'x', type), 415);
  }
  assert.equal((await service.as('ama')({ path: '/devices/D' })).text, before.text);
});

test('a key __proto__ in meta is data like any other', async () => {
  assertDone(await put('meta', '{"__proto__":{"polluted":true}}', json));
  const { text: answer } = await service.as('ama')({ path: '/devices/D' });
  assert.ok(answer.includes('"meta":{"__proto__":{"polluted":true}}'), answer);
  assert.equal(Reflect.get({}, 'polluted'), undefined);
});

test('numbers in meta keep their digits', async () => {
  const digits = '{"n":12345678901234567890,"f":0.1000000000000000055}';
  assertDone(await put('meta', digits, json));
  const { text: answer } = await service.as('ama')({ path: '/devices/D' });
  assert.ok(answer.includes(`"meta":${digits}`), answer);
});

test('a change moves date_modified and leaves date_created', async () => {
  for (const [field, body] of [
    ['name', 'moved'],
    ['location', '1,2'],
    ['meta', '{"a":1}'],
    ['visibility', 'public'],
  ] as const) {
    clock.advance(60_000);
    assertDone(await put(field, body, text));
    assert.equal(await fieldOf('date_modified'), new Date(clock.now()).toISOString());
    assert.equal(await fieldOf('date_created'), '2026-03-01T08:00:00.000Z');
  }
});

test('what is no field, and what only the service sets, has no path to be set at', async () => {
  for (const field of ['id', 'date_created', 'date_modified', 'last_value', 'colour', 'toString']) {
    const reply = await put(field, 'x', text);
    assert.ok(reply.status === 404 || reply.status === 405, `${field}: ${reply.status}`);
    assertRefused(reply, reply.status);
  }
  const missing = await service.as('ama')({ method: 'PUT', path: '/devices/no/name', body: 'x' });
  assertRefused(missing, 404, { saying: /\bno\b/ });
});

test('the owner may hand the device over, to somebody who exists', async () => {
  const device = { id: 'Gift', sensors: [] };
  assertDone(await service.as('ama')({ method: 'POST', path: '/devices', json: device }));
  const handOver = (username: string, body: string, type = text) =>
    service.as(username)({ method: 'PUT', path: '/devices/Gift/owner', body, type });
  assertRefused(await handOver('ama', 'nobody'), 404, { saying: /nobody/ });
  assertRefused(await handOver('kofi', 'kofi'), 403);
  assertDone(await handOver('ama', 'kofi'));
  assertDone(await service.as('kofi')({ method: 'PUT', path: '/devices/Gift/accept' }));
  assertRefused(await handOver('ama', 'ama'), 403);
  const { json: given } = await service.call({ path: '/devices/Gift' });
  assert.equal((given as { owner?: unknown }).owner, 'kofi');
  assertDone(await handOver('kofi', '"ama"', json));
});
