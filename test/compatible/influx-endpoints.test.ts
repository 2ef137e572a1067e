import assert from 'node:assert/strict';
import { request } from 'node:http';
import { after, before, test } from 'node:test';
import { type Service, startService } from '../service.ts';
import { datapointsOf, keyOf, makeDevice, sensorsOf, writeLines } from './line-endpoint.ts';

let service: Service;
let key: string;

before(async () => {
  service = await startService();
  key = await keyOf(service, 'ama');
});

after(() => service[Symbol.asyncDispose]());

const seconds = 1_767_268_800;
const noon = '2026-01-01T12:00:00.000Z';
const valuesOf = async (device: string, sensor: string) =>
  (await datapointsOf(service, device, sensor)).map(([value]) => value);
const basic = (username: string, password: string) =>
  `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;

test('a line feed inside a text is of it, and nothing out of a broken text is stored', async () => {
  await writeLines(service, 'text,device_id=t1 v="a\nb",w=1 1\ntext,device_id=t1 w=2 2', { key });
  assert.deepEqual(await valuesOf('t1', 'v'), ['a\nb']);
  assert.deepEqual(await valuesOf('t1', 'w'), [1, 2]);
  const body = 'text,device_id=t1 w=3 3\ntext,device_id=t1 v="open\nother,device_id=t2 v=9 1\n';
  const reply = await writeLines(service, body, { key });
  assert.equal(reply.status, 400);
  assert.match(reply.text, /line 2: a text is not closed/);
  assert.deepEqual(await valuesOf('t1', 'w'), [1, 2, 3]);
  assert.equal(await sensorsOf(service, 't2'), undefined);
  const numbered = 'text,device_id=t1 v="1\n2\n3" 4\nbroken\n';
  assert.match((await writeLines(service, numbered, { key })).text, /line 4: /);
});

test('indented lines, NULs behind lines and escapes are read as InfluxDB reads them', async () => {
  const body =
    '\u{feff}  usual,device_id=u v=1 1\n\tusual,device_id=u v=2 2\r\nusual,device_id=u v=3 3\0\n\0';
  assert.equal((await writeLines(service, body, { key })).status, 204);
  assert.deepEqual(await valuesOf('u', 'v'), [1, 2, 3]);
  const refused = ['m,check=C:\\,device_id=u v=4 4', 'm,a=1,a=2,device_id=u v=4 4'];
  refused.push('m,device_id=u v=9223372036854775808i 4', 'm,device_id=u v=+4 4');
  for (const line of refused) {
    assert.equal((await writeLines(service, line, { key })).status, 400, line);
  }
  assert.deepEqual(await valuesOf('u', 'v'), [1, 2, 3]);
});

test('a line that is no UTF-8 is Windows-1252, and a field called time is left out', async () => {
  const lines = 'm,device_id=latin,place=caf\xe9 v="21 \xb0C",time=5 1\nm,device_id=latin w=2 2\n';
  const reply = await writeLines(service, Buffer.from(lines, 'latin1'), { key });
  assert.equal(reply.status, 204, reply.text);
  assert.deepEqual(await sensorsOf(service, 'latin'), ['caf-_v', 'w']);
  assert.deepEqual(await valuesOf('latin', 'caf-_v'), ['21 °C']);
  for (const line of ['m,device_id=latin,time=5 v=1 3', 'm,device_id=latin time=5 3']) {
    const refused = await writeLines(service, line, { key });
    assert.equal(refused.status, 400, line);
    assert.match(refused.text, /another name than time/);
  }
});

test('times that count seconds without a precision are refused with a sentence', async () => {
  const larger = [seconds, seconds * 1_000, seconds * 1_000_000];
  for (const time of [...larger, Math.floor(seconds / 60), Math.floor(seconds / 3_600)]) {
    const reply = await writeLines(service, `early v=1 ${time}`, { key });
    assert.equal(reply.status, 400);
    assert.match(reply.text, /date of 1970 when it counts nanoseconds: give precision/);
  }
  const said = { key, query: '?precision=ns' };
  assert.equal((await writeLines(service, `early v=1 ${seconds}`, said)).status, 204);
  // As many seconds, minutes and hours are no time of now.
  for (const time of [1, 5_000_000, 1_000_000_000, 100_000_000_000, 99_999_999_999_999]) {
    assert.equal((await writeLines(service, `early v=${time} ${time}`, { key })).status, 204);
  }
  assert.equal((await datapointsOf(service, 'early', 'v')).length, 6);
});

test('an empty content type says as much as none', async () => {
  const { hostname, port } = new URL(service.url);
  const send = (path: string, body: string) =>
    new Promise<number | undefined>((resolve, reject) => {
      const headers = { 'content-type': '', authorization: `Bearer ${key}` };
      const sent = request({ hostname, port, path, method: 'POST', headers }, (reply) => {
        reply.resume().on('end', () => resolve(reply.statusCode));
      });
      sent.on('error', reject).end(body);
    });
  assert.equal(await send('/write?precision=s', ` cli v=1 ${seconds}`), 204);
  assert.equal(await send('/api/v2/devices/cli/sensors/v/values', '2'), 204);
  assert.equal(await send('/api/v2/devices', '{"id":"cli-made"}'), 204);
  assert.deepEqual(await valuesOf('cli', 'v'), [1, 2]);
});

test('a token may have a username before it', async () => {
  const write = (authorization: string) =>
    writeLines(service, 'pair v=1 1', { headers: { authorization } });
  assert.equal((await write(`Token ama:${key}`)).status, 204);
  assert.equal((await write(`Token :${key}`)).status, 204);
  assert.equal((await write('Token ama:kpk_wrong')).status, 401);
});

test('Basic with an access key as the password counts as that key, whatever is asked', async () => {
  await makeDevice(service, 'ama', { id: 'sheet', visibility: 'private', sensors: [{ id: 's' }] });
  const call = (authorization: string, method = 'GET', path = '/devices/sheet/sensors/s/values') =>
    service.call({
      method,
      path,
      headers: { authorization },
      ...(method === 'POST' && { json: 7 }),
    });
  assert.equal((await call(basic('ama', key), 'POST')).status, 204);
  for (const username of ['ama', '', 'anybody', 'kofi']) {
    const reply = await call(basic(username, key));
    assert.equal(reply.status, 200, reply.text);
    assert.match(reply.text, /"value":7/);
  }
  const narrow = await keyOf(service, 'ama', { scopes: ['devices:view'] });
  assert.equal((await call(basic('ama', narrow))).status, 403);
  for (const password of ['kpk_wrong', 'bamboo-4711', '']) {
    const reply = await call(basic('ama', password));
    assert.equal(reply.status, 401);
    assert.equal(reply.headers.get('www-authenticate'), 'Bearer', 'browsers ask nobody');
  }
});

test('what clients of InfluxDB ask before they write is answered', async () => {
  for (const method of ['GET', 'HEAD']) {
    const ping = await service.call({ method, path: '//ping' });
    assert.equal(ping.status, 204);
    assert.match(ping.headers.get('x-influxdb-version') ?? '', /^1\.6/);
  }
  const health = await service.call({ path: '//health' });
  assert.equal(health.status, 200);
  assert.equal((health.json as { status: string }).status, 'pass');
  const ask = (query: string, method = 'GET', more = {}) =>
    service.call({ method, path: `//query?${query}`, headers: {}, ...more });
  const empty = { results: [{ statement_id: 0 }] };
  assert.deepEqual((await ask('q=CREATE+DATABASE+"farm"', 'POST')).json, empty);
  const policy = 'CREATE RETENTION POLICY "a" ON "farm" DURATION 30d REPLICATION 1 DEFAULT';
  assert.deepEqual((await ask(`q=${encodeURIComponent(policy)}`, 'POST')).json, empty);
  const type = 'application/x-www-form-urlencoded';
  const body = 'q=create database telegraf';
  assert.deepEqual((await ask('', 'POST', { body, type })).json, empty);
  const shown = await ask(`q=SHOW+DATABASES%3B&u=ama&p=${key}`);
  const values = [['kipimo']];
  assert.deepEqual(shown.json, {
    results: [{ statement_id: 0, series: [{ name: 'databases', columns: ['name'], values }] }],
  });
  for (const query of ['', 'q=', 'q=%3B', 'q=DROP+DATABASE+farm', 'q=SELECT+1']) {
    const reply = await ask(query);
    assert.equal(reply.status, 400, query);
    assert.equal(typeof (reply.json as { error: unknown }).error, 'string');
  }
  assert.equal((await ask('q=SHOW+DATABASES&u=ama&p=kpk_wrong')).status, 401);
  assert.equal((await ask(`q=${'create database a;'.repeat(101)}`, 'POST')).status, 400);
  assert.match((await ask('q=CREATE DATABASE', 'POST')).text, /lacks the name of the database/);
});

test('clients of InfluxDB 3 write to /api/v3/write_lp', async () => {
  const write = (query: string, body: string) =>
    service.call({
      ...{ method: 'POST', path: `//api/v3/write_lp?db=farm&${query}`, body },
      headers: { authorization: `Bearer ${key}` },
    });
  const units = { second: 1, millisecond: 1_000, microsecond: 1e6, nanosecond: 1e9 };
  for (const [precision, count] of Object.entries(units)) {
    const time = BigInt(seconds) * BigInt(count);
    for (const said of [`precision=${precision}`, 'precision=auto&no_sync=true', '']) {
      const device = `v3-${precision}-${said.length}`;
      const reply = await write(said, `${device} v=1 ${time}`);
      assert.equal(reply.status, 204, reply.text);
      assert.deepEqual(await datapointsOf(service, device, 'v'), [[1, noon]], said);
    }
  }
  const partly = 'v3 v=1 1\nbroken\nv3 v=2 2';
  assert.equal((await write('precision=second&accept_partial=false', partly)).status, 400);
  assert.equal(await sensorsOf(service, 'v3'), undefined);
  assert.equal((await write('precision=second', partly)).status, 400);
  assert.deepEqual(await valuesOf('v3', 'v'), [1, 2]);
  assert.equal((await write('accept_partial=false', 'v3 v=3 3')).status, 204);
  const long = `v3 v="${'x'.repeat(100)}" 4\n`.repeat(12_000);
  assert.equal((await write('accept_partial=false', long)).status, 413);
  assert.equal((await write('precision=day', 'v3 v=1')).status, 400);
});

test('a form of very many pairs is refused at once, sent by anybody', async () => {
  const path = '//query';
  const type = 'application/x-www-form-urlencoded';
  const names = Array.from({ length: 100_000 }, (_, at) => `&${at}`).join('');
  const startedAt = performance.now();
  for (const query of ['q=show databases', 'p=nobody']) {
    const body = `${query}${names}`;
    const reply = await service.call({ method: 'POST', path, type, body, headers: {} });
    assert.equal(reply.status, 400, reply.text);
    assert.match(reply.text, /at most 256 pairs/);
  }
  // Each name was looked for among all those before: minutes.
  assert.ok(performance.now() - startedAt < 5_000);
});
