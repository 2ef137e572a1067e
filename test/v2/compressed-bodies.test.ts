import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { type Call, type Reply, type Service, startService } from '../service.ts';
import { operationsOf } from './documented-operations.ts';

let service: Service;
let owner: (request: Omit<Call, 'token'>) => Promise<Reply>;
let key: string;
const values = '//api/v2/devices/d/sensors/t/values';

before(async () => {
  service = await startService();
  owner = service.as('owner');
  const json = { id: 'd', sensors: [{ id: 't' }, { id: 'field1' }] };
  const made = await owner({ method: 'POST', path: '/devices', json });
  assert.equal(made.status, 204, made.text);
  const access = { name: 'k', devices: ['d'] };
  const answer = await owner({ method: 'POST', path: '/auth/keys', json: access });
  key = (answer.json as { key: string }).key;
});
after(() => service[Symbol.asyncDispose]());

const codings: Readonly<Record<string, (text: string) => Uint8Array | string>> = {
  gzip: gzipSync,
  'x-gzip': gzipSync,
  ' GZIP': gzipSync,
  deflate: deflateSync,
  identity: (text) => text,
  '': (text) => text,
};

/** Where values are written, and how; `at` is the value that shall be there afterwards. */
const bulk = (at: number) => JSON.stringify([{ device_id: 'd', sensor_id: 't', value: at }]);
const endpoints: readonly (readonly [string, string, (at: number) => string])[] = [
  ['//api/v2/devices/d/sensors/t/value', 'application/json', (at) => `{"value":${at}}`],
  ['//api/v2/devices/d/sensors/t/value', 'text/plain', String],
  [values, 'application/json', (at) => `[{"value":${at}}]`],
  [values, 'text/csv', (at) => `value\n${at}\n`],
  [values, 'application/json', (at) => `[${'{"value":1},'.repeat(20_000)}{"value":${at}}]`],
  ['//api/v2/sensors_data', 'application/json', bulk],
  ['//api/v2/sensors_data', 'application/x-ndjson', (at) => bulk(at).slice(1, -1)],
  ['//api/v1/sensors/d/measurements/t/values', 'application/json', (at) => `{"value":${at}}`],
  ['//api/v2/write', 'text/plain', (at) => `m,device_id=d t=${at}`],
  ['//write', 'text/plain', (at) => `m,device_id=d t=${at}`],
  ['//api/v3/write_lp?accept_partial=false', 'text/plain', (at) => `m,device_id=d t=${at}`],
  ['//update', 'application/x-www-form-urlencoded', (at) => `device_id=d&field1=${at}`],
  ['//update.json', 'application/json', (at) => `{"device_id":"d","field1":"${at}"}`],
];

const send = (encoding: string, body: Uint8Array | string, type: string, path: string) =>
  service.call({
    ...{ method: 'POST', path, body, type, token: key },
    headers: { 'content-encoding': encoding },
  });
const push = (encoding: string, body: Uint8Array | string) =>
  send(encoding, body, 'application/json', values);

async function lastOf(path: string): Promise<unknown> {
  const sensor = path.startsWith('//update') ? 'field1' : 't';
  const reply = await owner({ path: `/devices/d/sensors/${sensor}/values?limit=1&sort=dsc` });
  assert.equal(reply.status, 200, reply.text);
  return (reply.json as { value: unknown }[])[0]?.value;
}

test('every endpoint that stores values takes them compressed by gzip and deflate', async () => {
  let value = 100;
  for (const [encoding, encode] of Object.entries(codings)) {
    for (const [path, type, write] of endpoints) {
      value += 1;
      const reply = await send(encoding, encode(write(value)), type, path);
      assert.ok(reply.status < 300, `${encoding} ${path}: ${reply.status} ${reply.text}`);
      assert.equal(Number(await lastOf(path)), value, `${encoding} ${path} as ${type}`);
    }
  }
});

test('messages come compressed too', async () => {
  const body = gzipSync('{"name":"by gzip"}');
  const headers = { 'content-encoding': 'gzip' };
  const type = 'application/json';
  const bare = { method: 'PUT', path: '/devices/d/name', body: gzipSync('by gzip'), headers };
  assert.equal((await owner(bare)).status, 204);
  const made = await owner({ method: 'POST', path: '/groups', body, headers, type });
  assert.equal(made.status, 200, made.text);
  assert.equal((await owner({ path: '/devices/d' })).text.includes('"name":"by gzip"'), true);
});

test('every endpoint refuses encodings that are not read, and names those that are', async () => {
  const bytes = Buffer.from('[{"value":1}]');
  const unknown = ['br', 'zstd', 'gzip, gzip', 'deflate, gzip', 'gzip, identity', 'constructor'];
  for (const encoding of unknown) {
    for (const [path, type] of endpoints) {
      for (const body of [bytes, brotliCompressSync(bytes)]) {
        const reply = await send(encoding, body, type, path);
        assert.equal(reply.status, 415, `${encoding} ${path}: ${reply.text}`);
        // A sketch reads a number.
        if (path === '//update') assert.equal(reply.text, '0');
        else assert.match(reply.text, /send gzip, deflate, or none/);
        assert.equal(reply.headers.get('accept-encoding'), 'gzip, deflate');
      }
    }
  }
  for (const { name, method, path, body } of await operationsOf(service)) {
    if (body === undefined) continue;
    // Bodies are read before anything is looked up.
    const anywhere = path.replaceAll(/\{\w+\}/g, 'd');
    const request = { method, path: anywhere, body: bytes, type: 'application/json' };
    const reply = await owner({ ...request, headers: { 'content-encoding': 'br' } });
    assert.equal(reply.status, 415, `${name}: ${reply.status} ${reply.text}`);
  }
});

test('a body that is cut, or not compressed as it says, is refused with a sentence', async () => {
  for (const [path, type, write] of endpoints) {
    const before = await lastOf(path);
    const text = write(-1);
    const whole = gzipSync(text);
    for (const [encoding, body] of [
      ['gzip', whole.subarray(0, -9)],
      ['gzip', whole.subarray(0, 5)],
      ['gzip', text],
      ['gzip', deflateSync(text)],
      ['gzip', Buffer.concat([whole.subarray(0, -8), Buffer.alloc(8, 7)])],
      ['gzip', Buffer.concat([whole, Buffer.from('rest')])],
      ['deflate', whole],
      ['deflate', deflateRawSync(text)],
      ['deflate', deflateSync(text).subarray(0, -3)],
    ] as const) {
      const reply = await send(encoding, body, type, path);
      assert.equal(reply.status, 400, `${path}: ${reply.text}`);
      if (path === '//update') assert.equal(reply.text, '0');
      else assert.match(reply.text, new RegExp(`not whole ${encoding}`), path);
    }
    // Lines that arrive before the damage are stored, as those of any body that breaks off.
    const isInLines = path.includes('write') || path.includes('sensors_data');
    if (!isInLines) assert.equal(await lastOf(path), before, path);
  }
});

test('an empty body is empty, compressed or not', async () => {
  for (const [encoding, body] of [
    ['gzip', gzipSync('')],
    ['identity', ''],
    ['deflate', deflateSync('\n')],
  ] as const) {
    const reply = await push(encoding, body);
    assert.equal(reply.status, 400, reply.text);
    assert.match(reply.text, /empty/);
  }
});

test('the size limit of a path holds for a body as it is unpacked, too', async () => {
  const bomb = gzipSync(Buffer.alloc(200 * 1_048_576, ' '));
  const memoryBefore = process.memoryUsage().rss;
  const replies = await Promise.all(Array.from({ length: 8 }, () => push('gzip', bomb)));
  assert.deepEqual([...new Set(replies.map(({ status }) => status))], [413]);
  assert.match(replies[0]?.text ?? '', /larger than \d+ bytes/);
  // Eight bodies of the limit, where whole bombs would be 1.6 GB.
  const grownBy = process.memoryUsage().rss - memoryBefore;
  assert.ok(grownBy < 400 * 1_048_576, `${grownBy} bytes`);
  // Members that hold nothing unpack to nothing, however many they are.
  const empty = Buffer.concat(Array(500_000).fill(gzipSync('')));
  assert.equal((await push('gzip', empty)).status, 413);
  const ofGroup = { method: 'POST', path: '/groups', type: 'application/json' };
  const padded = gzipSync(`{"name":"${' '.repeat(1_048_576)}"}`);
  const reply = await owner({ ...ofGroup, body: padded, headers: { 'content-encoding': 'gzip' } });
  assert.equal(reply.status, 413, reply.text);
  const lines = gzipSync(`${' '.repeat(100_000)}\n`.repeat(700));
  for (const path of ['//update', '//api/v2/write', '//api/v2/sensors_data']) {
    const type = path === '//update' ? 'text/plain' : 'application/json';
    const refused = await send('gzip', lines, type, path);
    assert.equal(refused.status, 413, `${path}: ${refused.text}`);
  }
});

test('whatever was compressed is stored as it was', async () => {
  const numbers = fc.array(fc.integer({ min: -1e6, max: 1e6 }), { minLength: 1, maxLength: 300 });
  await fc.assert(
    fc.asyncProperty(numbers, fc.constantFrom('gzip', 'deflate'), async (given, encoding) => {
      const encode = codings[encoding] ?? gzipSync;
      const reply = await push(encoding, encode(JSON.stringify(given.map((value) => ({ value })))));
      assert.equal(reply.status, 204, reply.text);
      const stored = await owner({
        path: `/devices/d/sensors/t/values?limit=${given.length}&sort=dsc`,
      });
      const found = (stored.json as { value: number }[]).map(({ value }) => value);
      assert.deepEqual(found.toSorted(), given.toSorted());
    }),
    { numRuns: 20 },
  );
});
