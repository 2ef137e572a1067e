import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { connect } from '../mqtt/mqtt-clients.ts';
import { type Reply, type Service, startService } from '../service.ts';
import { datapointsOf, keyOf, makeDevice } from './line-endpoint.ts';

let service: Service;

before(async () => {
  service = await startService();
});

after(() => service[Symbol.asyncDispose]());

const form = 'application/x-www-form-urlencoded';

/** A device of its own, and a key that is for it alone. */
async function aChannel(id: string): Promise<string> {
  await makeDevice(service, 'ama', { id, visibility: 'private' });
  return keyOf(service, 'ama', { devices: [id] });
}

const post = (path: string, body: string | Uint8Array, type = form, headers = {}) =>
  service.call({ method: 'POST', path: `/${path}`, body, type, headers });
const get = (path: string) => service.call({ path: `/${path}` });
const stored = async (device: string, field: string) =>
  (await datapointsOf(service, device, field)).map(([value, at]) => [value, at] as const);
const assertTaken = (reply: Reply, status = 200) => assert.equal(reply.status, status, reply.text);

test('a form that is no UTF-8 is Windows-1252, and its fields are stored', async () => {
  const key = await aChannel('latin');
  const start = `api_key=${key}&field1=21.5&status=caf`;
  const raw = Buffer.concat([Buffer.from(start), Buffer.from([0xe9, 0x20, 0x80])]);
  assertTaken(await post('/update', raw));
  assertTaken(await post('/update', `${start}%E9`));
  assertTaken(await post('/update', `${start}%C3%A9+%E2%82%AC`));
  assertTaken(await get(`/update?${start}%E9&field2=1`));
  const json = Buffer.from(`{"api_key":"${key}","status":"caf\xe9"}`, 'latin1');
  assertTaken(await post('/update', json, 'application/json'));
  const texts = (await stored('latin', 'status')).map(([value]) => value);
  assert.deepEqual(texts, ['café €', 'café', 'café €', 'café', 'café']);
  assert.equal((await stored('latin', 'field1')).length, 4);
});

test('HEAD of an update stores nothing, and says what does', async () => {
  const key = await aChannel('looked-at');
  const path = `//update?api_key=${key}&field1=7`;
  const reply = await service.call({ method: 'HEAD', path });
  assert.deepEqual([reply.status, reply.headers.get('allow')], [405, 'GET, POST, OPTIONS']);
  assertTaken(await service.call({ path: path.replace('=7', '=8') }));
  assert.deepEqual(
    (await stored('looked-at', 'field1')).map(([value]) => value),
    [8],
  );
});

test('times may end with UTC, and without an offset are those of the timezone', async () => {
  const key = await aChannel('zones');
  const at = (created: string, zone?: string) =>
    post(
      '/update',
      new URLSearchParams({
        ...{ api_key: key, field1: '1', created_at: created },
        ...(zone !== undefined && { timezone: zone }),
      }).toString(),
    );
  const cases: readonly (readonly [string, string | undefined, string])[] = [
    ['2026-03-01 08:00:00 UTC', undefined, '2026-03-01T08:00:00.000Z'],
    ['2026-03-01 08:00:01 utc', 'Africa/Nairobi', '2026-03-01T08:00:01.000Z'],
    ['2026-03-01 08:00:00', 'Africa/Nairobi', '2026-03-01T05:00:00.000Z'],
    ['2026-02-23 19:23:18', 'America/New_York', '2026-02-24T00:23:18.000Z'],
    ['2026-03-01T08:00:02+01:00', 'Africa/Nairobi', '2026-03-01T07:00:02.000Z'],
    ['2026-03-01', 'Africa/Nairobi', '2026-02-28T21:00:00.000Z'],
    // Came twice: the earlier one.
    ['2025-10-26 02:30:00', 'Europe/Berlin', '2025-10-26T00:30:00.000Z'],
  ];
  for (const [created, zone, instant] of cases) {
    assertTaken(await at(created, zone));
    const times = (await stored('zones', 'field1')).map(([, time]) => time);
    assert.ok(times.includes(instant), `${created} ${zone}: ${times.at(-1)}`);
  }
  const count = (await stored('zones', 'field1')).length;
  const refused = [
    ['2026-03-29 02:30:00', 'Europe/Berlin'],
    ['2026-03-01 08:00:00', 'Africa/Nowhere'],
    ['2026-03-01 08:00:00', '+03:00x'],
  ];
  for (const [created = '', zone] of refused) assertTaken(await at(created, zone), 400);
  const wrong = `/update.json?api_key=${key}&field1=1&timezone=Africa/Nowhere`;
  assert.match((await get(wrong)).text, /timezone must be a name such as Africa/);
  assert.equal((await stored('zones', 'field1')).length, count);
});

test('the header may lack its X-, and /update.xml answers XML', async () => {
  const key = await aChannel('heads');
  const of = { thingspeakapikey: key };
  assertTaken(await post('/update', 'field1=1', form, of));
  const reply = await post('/update.xml', 'field1=%3C2%26%0B', form, of);
  assertTaken(reply);
  assert.match(reply.headers.get('content-type') ?? '', /^application\/xml/);
  assert.match(reply.text, /^<\?xml .*<field1>&lt;2&amp;\u{fffd}<\/field1>/su);
  assert.match((await post('/update.xml', 'field1=nan', form, of)).text, /no number/);
  assert.equal((await stored('heads', 'field1')).length, 2);
});

test('bulk updates are stored, whatever their shape', async () => {
  const key = await aChannel('bulk');
  const updates = [
    { created_at: '2026-03-01 08:00:00 UTC', field1: 1, field2: 'wet' },
    { created_at: '2026-03-01T09:00:00Z', field1: '2', status: 'ok' },
  ];
  const json = JSON.stringify({ write_api_key: key, updates });
  const reply = await post('/channels/42/bulk_update.json', json, 'application/json');
  assertTaken(reply, 202);
  assert.deepEqual(reply.json, { success: true });
  const rows = '2026-03-01T10:00:00Z,3,dry,,,,,,,,,,fine|2026-03-01T11:00:00Z,4,,,,,,,,,,,';
  const csv = new URLSearchParams({ write_api_key: key, time_format: 'absolute', updates: rows });
  assertTaken(await post('/channels/42/bulk_update.csv', csv.toString()), 202);
  assert.deepEqual(
    (await stored('bulk', 'field1')).map(([value, at]) => `${value} ${at?.slice(11, 16)}`),
    ['1 08:00', '2 09:00', '3 10:00', '4 11:00'],
  );
  assert.deepEqual(
    (await stored('bulk', 'status')).map(([value]) => value),
    ['ok', 'fine'],
  );
  const relative = new URLSearchParams({
    ...{ write_api_key: key, time_format: 'relative', updates: '0,5|60,6|30,7' },
  });
  assertTaken(await post('/channels/42/bulk_update.csv', relative.toString()), 202);
  const late = (await stored('bulk', 'field1')).slice(-3).map(([, at]) => Date.parse(at ?? ''));
  assert.deepEqual(
    [(late[1] ?? 0) - (late[0] ?? 0), (late[2] ?? 0) - (late[1] ?? 0)],
    [60e3, 30e3],
  );
  assert.ok(Math.abs((late[2] ?? 0) - Date.now()) < 60_000);
});

test('bad updates in bulk are refused alone, and counted', async () => {
  const key = await aChannel('partly');
  const send = (updates: unknown, more = {}) =>
    post(
      '/channels/partly/bulk_update.json',
      JSON.stringify({ write_api_key: key, updates, ...more }),
      'application/json',
    );
  const created_at = '2026-03-01T08:00:00Z';
  const reply = await send([
    { created_at, field1: 1 },
    { created_at: 'yesterday', field1: 2 },
    { created_at, field2: 'nan', field3: 3 },
    null,
    7,
  ]);
  assertTaken(reply, 202);
  assert.equal(reply.headers.get('x-refused'), '4');
  assert.deepEqual((await stored('partly', 'field3')).length, 1);
  const delayed = [{ field4: 1 }, { delta_t: -1, field4: 2 }, { delta_t: 5, field4: 3 }, 'x'];
  assert.equal((await send(delayed.slice(0, 3))).headers.get('x-refused'), '2');
  assert.deepEqual(
    (await stored('partly', 'field4')).map(([value]) => value),
    [3],
  );
  assertTaken(await send(delayed), 400);
  const cells = `${created_at},${','.repeat(12)}7|${created_at},,,,,5`;
  const rows = await post(
    '/channels/partly/bulk_update.csv',
    `write_api_key=${key}&updates=${cells}`,
  );
  assert.deepEqual([rows.status, rows.headers.get('x-refused')], [202, '1']);
  for (const updates of [[{ field9: 1 }], [7], 'x', [{ delta_t: -1, field1: 1 }]]) {
    assertTaken(await send(updates), 400);
  }
  assertTaken(await send([{ created_at, field1: 1 }], { timezone: 'Nowhere' }), 400);
  assertTaken(await send([{ field1: 1 }], { write_api_key: 'kpk_wrong' }), 401);
  assertTaken(await post('/channels/partly/bulk_update.csv', 'updates='), 400);
  assertTaken(await post('/channels/partly/bulk_update.txt', 'updates=1'), 404);
  assertTaken(await send([{ field1: 'x'.repeat(1_100_000) }]), 413);
});

test('thousands of updates in bulk are stored', async () => {
  const key = await aChannel('many');
  const updates = Array.from({ length: 6_000 }, (_, at) => ({
    created_at: new Date(1_772_000_000_000 + at * 1_000).toISOString(),
    field1: at,
    field2: at / 2,
  }));
  const body = JSON.stringify({ write_api_key: key, updates });
  assertTaken(await post('/channels/many/bulk_update.json', body, 'application/json'), 202);
  assert.equal((await stored('many', 'field2')).length, 6_000);
});

test('feeds, fields and the last of them are read in the shapes of ThingSpeak', async () => {
  const key = await aChannel('read');
  const update = (hour: number, fields: string) =>
    get(`/update?api_key=${key}&created_at=2026-03-01T0${hour}:00:00Z&${fields}`);
  assertTaken(await update(8, 'field1=1&field2=wet'));
  assertTaken(await update(9, 'field1=2.5'));
  const read = async (path: string) => get(`/channels/42/${path}api_key=${key}`);
  const feeds = (await read('feeds.json?results=5&')).json as { feeds: Record<string, unknown>[] };
  assert.deepEqual(
    feeds.feeds.map(({ entry_id, ...entry }) => entry),
    [
      { created_at: '2026-03-01T08:00:00Z', field1: '1', field2: 'wet' },
      { created_at: '2026-03-01T09:00:00Z', field1: '2.5', field2: null },
    ],
  );
  assert.equal((await read('fields/1/last?')).text, '2.5');
  assert.equal((await read('fields/1/last.txt?')).text, '2.5');
  const last = (await read('feeds/last.json?timezone=Africa/Nairobi&')).json as object;
  assert.deepEqual(
    { ...last, entry_id: 0 },
    { created_at: '2026-03-01T12:00:00+03:00', entry_id: 0, field1: '2.5', field2: null },
  );
  const csv = (await read('feeds.csv?')).text.split('\n');
  assert.equal(csv[0], 'created_at,entry_id,field1,field2');
  assert.match(csv[1] ?? '', /^2026-03-01 08:00:00 UTC,\d+,1,wet$/);
  const one = (await read('fields/1.json?results=1&')).json as { feeds: object[] };
  assert.equal(one.feeds.length, 1);
  const ranged = await read('fields/1.json?start=2026-03-01%2008:30:00&end=2026-03-01%2010:00:00&');
  assert.deepEqual((ranged.json as { feeds: object[] }).feeds.length, 1);
  assert.match((await read('fields/1.xml?')).text, /<field1>2\.5<\/field1>/);
  for (const path of ['fields/9.json?', 'fields/3.json?', 'feeds.yaml?', 'other.json?']) {
    assertTaken(await read(path), 404);
  }
  assertTaken(await read('feeds.json?results=many&'), 400);
  for (const name of ['average', 'median', 'sum', 'timescale', 'min', 'max']) {
    assert.match((await read(`fields/1.json?${name}=60&`)).text, /not computed here/);
  }
  assertTaken(await get('/channels/read/feeds.json'), 403);
  assertTaken(await get('/channels/read/feeds.json?api_key=kpk_wrong'), 401);
});

test('what clients of ThingSpeak publish over MQTT is stored', async () => {
  const key = await aChannel('mqtt');
  assertTaken(await get(`/update?api_key=${key}&field1=0&field2=0`));
  await using client = await connect(service, { as: 'ama' });
  const publish = (topic: string, payload: string) =>
    client.publish(topic, payload, { qos: 1 }).then(
      () => 'stored',
      (reason: Error) => reason.message,
    );
  const form = 'field1=nan&field2=2&created_at=2026-03-01 08:00:00 UTC\0';
  assert.equal(await publish('channels/mqtt/publish', form), 'stored');
  assert.equal(await publish('channels/mqtt/publish/fields/field1', '21.50'), 'stored');
  assert.equal(await publish('channels/mqtt/publish/fields/field1/kpk_x', '22'), 'stored');
  assert.notEqual(await publish('channels/mqtt/publish/fields/field9', '1'), 'stored');
  assert.notEqual(await publish('channels/mqtt/publish/fields/field1', 'inf'), 'stored');
  assert.notEqual(await publish('channels/mqtt/publish', ''), 'stored');
  assert.notEqual(await publish('channels/nowhere/publish', 'field1=1'), 'stored');
  const values = (await stored('mqtt', 'field1')).map(([value]) => value);
  assert.deepEqual(values, [0, 21.5, 22]);
  const times = (await stored('mqtt', 'field2')).map(([, at]) => at);
  assert.ok(times.includes('2026-03-01T08:00:00.000Z'));
});

test('a field that cannot be stored over MQTT takes no other along, and is told of', async () => {
  const key = await aChannel('told');
  assertTaken(await get(`/update?api_key=${key}&field2=0`));
  await using client = await connect(service, { as: 'ama' });
  const publish = (topic: string, payload: string) => client.publish(topic, payload, { qos: 1 });
  const told = async () => {
    const { json } = await service.as('ama')({ path: '/devices/told/refusals' });
    const [first] = json as Record<string, unknown>[];
    return [first?.['problem'], first?.['sensor_id'], first?.['path'], first?.['excerpt']];
  };
  await publish(`channels/told/publish/${key}`, 'field1=1&field2=2&field3=3');
  assert.deepEqual(
    (await stored('told', 'field2')).map(([value]) => value),
    [0, 2],
  );
  const path = 'channels/told/publish';
  const sent = 'field1=1&field2=2&field3=3';
  assert.deepEqual(await told(), ['unknown_sensor', 'field3', path, sent]);
  await assert.rejects(publish('channels/told/publish', 'created_at=never&field2=4'));
  assert.deepEqual(await told(), ['unreadable', undefined, path, 'created_at=never&field2=4']);
  await assert.rejects(publish('channels/told/publish/fields/field1', '1'));
  assert.deepEqual(await told(), ['unknown_sensor', 'field1', `${path}/fields/field1`, '1']);
});
