import assert from 'node:assert/strict';
import { request } from 'node:http';
import test, { after, before } from 'node:test';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { createCompressor, encodingFor } from '../../src/http/compression.ts';
import { type Service, startService } from '../service.ts';
import { assertDone, assertRefused } from './refusal.ts';

let service: Service;
const values = '/devices/Station/sensors/TC1/values';

before(async () => {
  service = await startService();
  const json = { id: 'Station', name: 'Field', sensors: [{ id: 'TC1' }, { id: 'New' }] };
  assertDone(await service.as('ama')({ method: 'POST', path: '/devices', json }));
  const datapoints = Array.from({ length: 12_000 }, (_, minute) => ({
    value: minute % 100,
    timestamp: new Date(Date.UTC(2026, 0, 1, 0, minute)).toISOString(),
  }));
  assertDone(await service.as('ama')({ method: 'POST', path: values, json: datapoints }));
});

after(() => service[Symbol.asyncDispose]());

interface RawReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly bytes: Buffer;
}

/** The bytes as they came: fetch would have taken the coding off. */
function get(
  path: string,
  headers: Readonly<Record<string, string>> = {},
  method = 'GET',
): Promise<RawReply> {
  return new Promise((resolve, reject) => {
    const url = `${service.url}/api/v2${path}`;
    const outgoing = request(url, { method, headers, agent: false }, (reply) => {
      const chunks: Buffer[] = [];
      reply.on('error', reject);
      reply.on('data', (chunk) => chunks.push(chunk));
      reply.on('end', () => {
        const { statusCode: status = 0, headers: given } = reply;
        resolve({ status, headers: given, bytes: Buffer.concat(chunks) });
      });
    });
    outgoing.on('error', reject).end();
  });
}

const long = [`${values}?limit=100`, `${values}?limit=12000`, `${values}?limit=12000&format=csv`];
const short = ['/devices/Station', '/devices', `${values}?limit=3`, '/ontologies/actuator_kinds'];

test('reads come compressed to those who ask, by gzip or brotli', async () => {
  for (const path of [...long, '/ontologies/units']) {
    const plain = await get(path);
    assert.equal(plain.headers['content-encoding'], undefined, path);
    for (const [coding, inflated] of [
      ['gzip', gunzipSync],
      ['br', brotliDecompressSync],
    ] as const) {
      const reply = await get(path, { 'accept-encoding': `deflate, ${coding}` });
      assert.equal(reply.headers['content-encoding'], coding, path);
      assert.equal(reply.headers['content-type'], plain.headers['content-type']);
      assert.equal(reply.headers['x-total-count'], plain.headers['x-total-count']);
      assert.ok(reply.bytes.length < plain.bytes.length / 3, `${path}: ${reply.bytes.length}`);
      assert.ok(inflated(reply.bytes).equals(plain.bytes), path);
    }
  }
});

test('an answer below a kilobyte, and one nobody wants compressed, stays as it is', async () => {
  for (const path of [...short, `${values}?limit=6000&dateFrom=2030-01-01`]) {
    const reply = await get(path, { 'accept-encoding': 'gzip, br' });
    assert.equal(reply.headers['content-encoding'], undefined, path);
    assert.ok(reply.bytes.length < 1_024, path);
  }
  for (const accepted of ['identity', 'gzip;q=0, br;q=0', '*', 'deflate', '', ';;,,q=1']) {
    const reply = await get(`${values}?limit=100`, { 'accept-encoding': accepted });
    assert.equal(reply.headers['content-encoding'], undefined, accepted);
  }
});

test('an answer that is held whole has an ETag, and is not sent to who has it', async () => {
  for (const path of [...short, `${values}?limit=100`, '/users']) {
    const first = await get(path);
    const tag = String(first.headers['etag']);
    assert.match(tag, /^W\/"[\w-]{22}"$/, path);
    const asked = ['*', tag, tag.slice(2), `"other", ${tag}, "another"`];
    for (const known of asked) {
      for (const accepted of ['identity', 'gzip']) {
        const again = { 'if-none-match': known, 'accept-encoding': accepted };
        const reply = await get(path, again);
        assert.equal(reply.status, 304, `${path} ${known}`);
        assert.equal(reply.bytes.length, 0);
        for (const name of ['etag', 'vary', 'x-total-count', 'access-control-allow-origin']) {
          assert.equal(reply.headers[name], first.headers[name], name);
        }
      }
    }
    assert.equal((await get(path, { 'if-none-match': tag }, 'HEAD')).status, 304);
    for (const known of ['"other"', `${tag.slice(0, -2)}"`, '']) {
      assert.equal((await get(path, { 'if-none-match': known })).status, 200, known);
    }
  }
});

test('what changed has another ETag, and rights are asked for each time', async () => {
  const before = String((await get('/devices/Station')).headers['etag']);
  const set = (path: string, body: string) =>
    service.as('ama')({ method: 'PUT', path: `/devices/Station/${path}`, body });
  assertDone(await set('name', 'Field 4'));
  const changed = await get('/devices/Station', { 'if-none-match': before });
  assert.equal(changed.status, 200);
  assert.match(changed.bytes.toString(), /Field 4/);
  const tag = String(changed.headers['etag']);
  assertDone(await set('visibility', 'private'));
  assert.equal((await get('/devices/Station', { 'if-none-match': tag })).status, 403);
  assert.equal((await get('/devices/Station', { 'if-none-match': '*' })).status, 403);
  assertDone(await set('visibility', 'public'));
});

test('caches are told what an answer depends on; a stream has no ETag', async () => {
  for (const path of [...short, ...long]) {
    for (const accepted of ['identity', 'gzip, br']) {
      const { headers } = await get(path, { 'accept-encoding': accepted });
      assert.equal(headers['vary'], 'Authorization, Accept-Encoding', path);
      const isStream = path.includes('12000');
      assert.equal(headers['etag'] === undefined, isStream, path);
      const isFixed = path.startsWith('/ontologies');
      assert.match(
        String(headers['cache-control']),
        isFixed ? /^public, max-age=/ : /^private, no-cache$/,
      );
    }
  }
});

test('nothing below /auth is compressed or has an ETag', async () => {
  const token = await service.tokenOf('ama');
  const headers = { authorization: `Bearer ${token}`, 'accept-encoding': 'gzip, br' };
  for (let at = 0; at < 20; at += 1) {
    const json = { id: `Own${at}` };
    assertDone(await service.as('ama')({ method: 'POST', path: '/devices', json }));
  }
  for (const path of ['/auth/permissions/devices', '/auth/keys']) {
    const reply = await get(path, headers);
    assert.equal(reply.status, 200);
    for (const name of ['content-encoding', 'etag', 'vary']) {
      assert.equal(reply.headers[name], undefined, `${name} of ${path}`);
    }
  }
  const permissions = await get('/auth/permissions/devices', { ...headers, 'if-none-match': '*' });
  assert.ok(permissions.status === 200 && permissions.bytes.length > 1_024);
});

test('refusals stay readable to a client that takes compressed answers', async () => {
  const headers = { 'accept-encoding': 'gzip, br', 'if-none-match': '*' };
  assertRefused(await service.call({ path: '/devices/none', headers }), 404);
  assertRefused(await service.call({ path: `${values}?limit=-1`, headers }), 400);
});

test('a client that leaves in the middle of a compressed answer harms nobody', async () => {
  for (let at = 0; at < 70; at += 1) {
    await new Promise<void>((resolve) => {
      const url = `${service.url}/api/v2${values}?limit=12000`;
      const headers = { 'accept-encoding': 'br' };
      const outgoing = request(url, { headers, agent: false }, (reply) => {
        reply.on('error', () => undefined);
        reply.once('data', () => outgoing.destroy());
      });
      outgoing
        .on('error', () => undefined)
        .on('close', resolve)
        .end();
    });
  }
  const reply = await get(`${values}?limit=12000`, { 'accept-encoding': 'br' });
  assert.equal(reply.headers['content-encoding'], 'br');
});

test('of what is accepted the best liked coding is taken', () => {
  const cases: readonly (readonly [string, string | undefined])[] = [
    ['gzip', 'gzip'],
    ['GZIP ; Q=0.5', 'gzip'],
    ['x-gzip', 'gzip'],
    ['gzip, deflate, br, zstd', 'br'],
    ['br;q=0.2, gzip;q=0.9', 'gzip'],
    ['gzip;q=1.0, identity; q=0.5, *;q=0', 'gzip'],
    ['gzip;q=nonsense', undefined],
    ['x'.repeat(10_000), undefined],
  ];
  for (const [accepted, coding] of cases) assert.equal(encodingFor(accepted), coding, accepted);
});

test('more than a set number of answers at once go out as they are', async () => {
  const compressor = createCompressor(1);
  const first = compressor.whole('x'.repeat(2_000), 'gzip');
  assert.ok(first);
  assert.equal(compressor.whole('x'.repeat(2_000), 'gzip'), undefined);
  assert.equal(compressor.stream(steps(), 'gzip'), undefined);
  await first;
  const stream = compressor.stream(steps(), 'gzip');
  assert.ok(stream);
  assert.equal(compressor.whole('x'.repeat(2_000), 'br'), undefined);
  assert.equal(gunzipSync(Buffer.concat(await stream.toArray())).toString(), 'ab');
  assert.ok(compressor.whole('x'.repeat(2_000), 'br'));
});

async function* steps(): AsyncGenerator<string> {
  yield 'a';
  yield 'b';
}
