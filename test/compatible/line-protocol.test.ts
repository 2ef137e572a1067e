import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { type Reply, type Service, startService } from '../service.ts';
import { datapointsOf, keyOf, makeDevice, sensorsOf, writeLines } from './line-endpoint.ts';

let service: Service;
let key: string;

before(async () => {
  service = await startService();
  key = await keyOf(service, 'ama');
});

after(() => service[Symbol.asyncDispose]());

const noon = 1_767_268_800;

function assertStored(reply: Reply): void {
  assert.equal(reply.status, 204, reply.text);
  assert.equal(reply.text, '');
  assert.equal(reply.headers.get('access-control-allow-origin'), '*');
}

const messageOf = (reply: Reply) => (reply.json as { readonly message: string }).message;

test('a host that was never heard of becomes a private device with its sensors', async () => {
  const body =
    '# what Telegraf sends\n' +
    `cpu,host=pi-1,cpu=cpu0 usage_idle=97.5,usage_user=1i ${noon}000000000\n` +
    `mem,host=pi-1 used=12345678901234567i,ok=true,state="all \\"well\\"" ${noon}000000000\r\n`;
  assertStored(await writeLines(service, body, { key }));
  const at = '2026-01-01T12:00:00.000Z';
  assert.deepEqual(await datapointsOf(service, 'pi-1', 'cpu_cpu0_usage_idle'), [[97.5, at]]);
  assert.deepEqual(await datapointsOf(service, 'pi-1', 'cpu_cpu0_usage_user'), [[1, at]]);
  assert.deepEqual(await datapointsOf(service, 'pi-1', 'mem_ok'), [[true, at]]);
  assert.deepEqual(await datapointsOf(service, 'pi-1', 'mem_state'), [['all "well"', at]]);
  const reply = await service.as('ama')({ path: '/devices/pi-1/sensors/mem_used/values' });
  assert.match(reply.text, /"value":12345678901234567,/);
  const device = await service.as('ama')({ path: '/devices/pi-1' });
  const { owner, visibility } = device.json as { owner: string; visibility: string };
  assert.deepEqual([owner, visibility], ['ama', 'private']);
});

test('a new field of a known device is a new sensor, in the same request too', async () => {
  const lines = Array.from({ length: 9_000 }, (_, at) => `step v=${at} ${at + 1}`);
  const body = [...lines, 'step late=1 1', ...lines.slice(0, 10)].join('\n');
  assertStored(await writeLines(service, body, { key }));
  assertStored(await writeLines(service, 'step later=2 1', { key }));
  assert.deepEqual(await sensorsOf(service, 'step'), ['v', 'late', 'later']);
});

test('each precision counts what it says', async () => {
  const counts = { ns: 1e9, us: 1e6, u: 1e6, ms: 1e3, s: 1 };
  for (const [precision, count] of Object.entries(counts)) {
    const body = `prec-${precision} v=1 ${BigInt(noon) * BigInt(count)}`;
    assertStored(await writeLines(service, body, { key, query: `?precision=${precision}` }));
    const [found] = await datapointsOf(service, `prec-${precision}`, 'v');
    assert.deepEqual(found, [1, '2026-01-01T12:00:00.000Z'], precision);
  }
  const wrong = await writeLines(service, 'a v=1', { key, query: '?precision=day' });
  assert.equal(wrong.status, 400);
  assert.match(messageOf(wrong), /precision/);
});

test('lines that cannot be stored are told by number, and the others are stored', async () => {
  const body = ['good v=1 1', 'no field', '', 'good v=zwei 2', 'good v=3 3', 'a\\ b v=1'].join(
    '\n',
  );
  const reply = await writeLines(service, body, { key, query: '' });
  assert.equal(reply.status, 400);
  assert.match(
    messageOf(reply),
    /^partial write: line 2: .+; line 4: .+; line 6: .+ stored=2 dropped=3$/,
  );
  const { error, code, description } = reply.json as Record<string, string>;
  assert.deepEqual([error, code, description], ['invalid', 'invalid', messageOf(reply)]);
  assert.equal((await datapointsOf(service, 'good', 'v')).length, 2);
});

test('lines that find no room are 507, so that clients keep and repeat them', async () => {
  const environment = { KIPIMO_QUOTA_ACCOUNT_BYTES: '4096' };
  await using small = await startService({ environment });
  const of = { key: await keyOf(small, 'ama') };
  let status = 204;
  for (let at = 1; at < 20 && status === 204; at += 1) {
    const text = 'x'.repeat(500) + at;
    ({ status } = await writeLines(small, `full s="${text}" ${noon}000000000`, of));
  }
  assert.equal(status, 507);
  const refused = await writeLines(small, 'full s="y" 99\nbroken', of);
  assert.equal(refused.status, 507, refused.text);
  assert.match(messageOf(refused), /partial write: .*stored=0 dropped=2/);
  const gone = { method: 'DELETE', path: '/devices/full/sensors/s' };
  assert.equal((await small.as('ama')(gone)).status, 204);
  assertStored(await writeLines(small, 'full s="y" 99', of));
});

test('an answer names the first refused lines alone, whatever their number', async () => {
  const reply = await writeLines(service, 'x\n'.repeat(5_000), { key });
  assert.equal(reply.status, 400);
  assert.match(messageOf(reply), /; … stored=0 dropped=5000$/);
  assert.ok(messageOf(reply).length < 1_000);
});

test('clients of InfluxDB 1 write to /write and are told in their words', async () => {
  const write = (query: string, headers = {}, body = 'v1-host v=1 1') =>
    service.call({ method: 'POST', path: `//write${query}`, body, headers });
  assertStored(await write(`?db=farm&rp=auto&precision=s&u=ama&p=${key}`));
  const basic = `Basic ${Buffer.from(`ama:${key}`).toString('base64')}`;
  assertStored(await write('?db=farm&precision=n', { authorization: basic }));
  assertStored(await write('?precision=h', { authorization: `Bearer ${key}` }));
  assert.equal((await datapointsOf(service, 'v1-host', 'v')).length, 3);
  const wrong = await write('?u=ama&p=guessed');
  assert.equal(wrong.status, 401);
  const partial = await write('', { authorization: basic }, 'v1-host v=\nv1-host v=2 7');
  assert.equal(partial.status, 400);
  assert.match((partial.json as { error: string }).error, /^partial write: line 1: .+ dropped=1$/);
});

test('a body may be compressed, and one that is broken or a bomb is refused', async () => {
  const headers = { 'content-encoding': 'gzip' };
  const lines = Array.from({ length: 5_000 }, (_, at) => `zip v=${at} ${at}`).join('\n');
  assertStored(await writeLines(service, gzipSync(lines), { key, headers, query: '?precision=s' }));
  assert.equal((await datapointsOf(service, 'zip', 'v')).length, 5_000);

  const cut = gzipSync(lines).subarray(0, 2_000);
  assert.equal((await writeLines(service, cut, { key, headers })).status, 400);
  const notGzip = await writeLines(service, 'zip v=1', { key, headers });
  assert.equal(notGzip.status, 400);
  assert.match(messageOf(notGzip), /gzip/);
  const bomb = gzipSync(Buffer.alloc(80 * 1_048_576, '\n'));
  assert.ok(bomb.length < 100_000);
  const refused = await writeLines(service, bomb, { key, headers });
  assert.equal(refused.status, 413);
  const other = { 'content-encoding': 'br' };
  assert.equal((await writeLines(service, 'zip v=1', { key, headers: other })).status, 415);
});

test('a hundred thousand lines in eight megabytes are stored', async () => {
  const rest = 'x'.repeat(50);
  const lines = Array.from(
    { length: 100_000 },
    (_, at) => `bulk,device_id=d${at % 10} v=${at},note="${rest}" ${1_700_000_000 + at}`,
  );
  const body = lines.join('\n');
  assert.ok(body.length > 8_000_000);
  assertStored(await writeLines(service, body, { key, query: '?precision=s' }));
  assert.equal((await datapointsOf(service, 'd3', 'v')).length, 10_000);
});

test('a timestamp ahead of the clock, or none at all, is as with every push', async () => {
  assertStored(await writeLines(service, 'clock v=1', { key }));
  assert.deepEqual(await datapointsOf(service, 'clock', 'v'), [[1, undefined]]);
  const ahead = await writeLines(service, 'clock v=1 9999999999', { key, query: '?precision=s' });
  assert.equal(ahead.status, 400);
  assert.match(messageOf(ahead), /ahead of the server's clock/);
});

test('sensors that one request makes are limited, and the next makes the rest', async () => {
  const lines = Array.from({ length: 2_100 }, (_, at) => `many-${at % 3},t=${at} v=1 1`).join('\n');
  const reply = await writeLines(service, lines, { key });
  assert.equal(reply.status, 400);
  assert.match(messageOf(reply), /may make 2000 sensors.* stored=2000 dropped=100$/);
  assertStored(await writeLines(service, lines, { key }));
});

test('a line with too many fields is refused without making any', async () => {
  const fields = Array.from({ length: 5_000 }, (_, at) => `f${at}=1`).join(',');
  const reply = await writeLines(service, `wide ${fields}`, { key });
  assert.equal(reply.status, 400);
  assert.match(messageOf(reply), /fields/);
  assert.equal(await sensorsOf(service, 'wide'), undefined);
});

test('an empty body is nothing to store', async () => {
  assertStored(await writeLines(service, '', { key }));
  assertStored(await writeLines(service, '\n# comment\n\n', { key }));
});

test('other methods and what is beside these endpoints are refused', async () => {
  for (const path of ['//write', '//api/v2/write']) {
    const reply = await service.call({ path });
    assert.equal(reply.status, 405, path);
    assert.match(reply.headers.get('allow') ?? '', /POST/);
  }
  const beside = await service.call({ path: '//write/other' });
  assert.equal(beside.status, 404);
  const asked = await service.call({ method: 'OPTIONS', path: '//write' });
  assert.equal(asked.status, 204);
});

test('who writes is told apart by key, and by nothing else', async () => {
  await makeDevice(service, 'ama', { id: 'hers', visibility: 'private', sensors: [{ id: 'v' }] });
  await makeDevice(service, 'ama', { id: 'open', visibility: 'public', sensors: [{ id: 'v' }] });
  const narrow = await keyOf(service, 'ama', { devices: ['hers'] });
  const pushOnly = await keyOf(service, 'ama', { scopes: ['devices-data:create'] });
  const viewOnly = await keyOf(service, 'ama', { scopes: ['devices:view'] });
  const foreign = await keyOf(service, 'kofi');
  const status = async (body: string, by?: string) =>
    (await writeLines(service, body, by === undefined ? {} : { key: by })).status;
  const cases: readonly (readonly [string, string | undefined, number])[] = [
    ['hers v=1 1', key, 204],
    ['hers v=1 1', narrow, 204],
    ['hers new=1 1', narrow, 204],
    ['open v=1 1', narrow, 403],
    ['else v=1 1', narrow, 403],
    ['hers v=1 1', pushOnly, 204],
    ['hers unheard=1 1', pushOnly, 400],
    ['else v=1 1', pushOnly, 403],
    ['hers v=1 1', viewOnly, 403],
    ['hers v=1 1', foreign, 403],
    ['hers unheard=1 1', foreign, 403],
    ['hers v=1 1', undefined, 403],
    ['hers unheard=1 1', undefined, 403],
    ['open v=1 1', foreign, 204],
    ['open v=1 1', undefined, 204],
    ['open unheard=1 1', undefined, 400],
    ['nowhere v=1 1', undefined, 400],
    ['hers v=1 1', 'kpk_wrong', 401],
  ];
  for (const [body, by, expected] of cases) {
    assert.equal(
      await status(body, by),
      expected,
      `${body} by key ${cases.findIndex((c) => c[1] === by)}`,
    );
  }
  assert.deepEqual(await sensorsOf(service, 'hers'), ['v', 'new']);
  assert.deepEqual(await sensorsOf(service, 'open'), ['v']);
  assert.equal(await sensorsOf(service, 'else'), undefined);
  assert.equal(await sensorsOf(service, 'nowhere'), undefined);
});

test('a refusal says nothing about the sensors of a device that is not theirs', async () => {
  await makeDevice(service, 'ama', { id: 'quiet', visibility: 'private', sensors: [{ id: 'v' }] });
  const foreign = await keyOf(service, 'kofi');
  const known = await writeLines(service, 'quiet v=1', { key: foreign });
  const unknown = await writeLines(service, 'quiet w=1', { key: foreign });
  assert.deepEqual(known.json, unknown.json);
});
