import assert from 'node:assert/strict';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { after, before } from 'node:test';
import { createManualClock } from '../manual-clock.ts';
import { type Service, startService } from '../service.ts';
import { createRecordingChannels } from './recording-channels.ts';
import { assertDone } from './refusal.ts';

const noon = Date.UTC(2026, 10, 20, 12);
const clock = createManualClock(noon);
const channels = createRecordingChannels(['sms']);
const minute = 60_000;
let service: Service;
let count = 0;

before(async () => {
  service = await startService({ clock, channels: channels.open });
});

after(() => service[Symbol.asyncDispose]());

const ama = () => service.as('ama');

async function rule(expression: string, fields: object = {}, action?: object) {
  count += 1;
  const device = `late-${count}`;
  const sensors = [{ id: 'T' }, { id: 'H' }];
  const json = { id: device, visibility: 'private', sensors, actuators: [{ id: 'valve' }] };
  assertDone(await ama()({ method: 'POST', path: '/devices', json }));
  const notification = {
    condition: { devices: [device], expression, ...fields },
    action: action ?? { usernames: ['ama'], channels: ['sms'], message: '{T} {time} {age}' },
  };
  const reply = await ama()({ method: 'POST', path: '/notifications', json: notification });
  assert.equal(reply.status, 200, reply.text);
  return { device, notification, path: `/notifications/${reply.text}` };
}

const ago = (ms: number) => new Date(clock.now() - ms).toISOString();

async function push(device: string, json: unknown, sensor = 'T'): Promise<void> {
  const path = `/devices/${device}/sensors/${sensor}/values`;
  assertDone(await ama()({ method: 'POST', path, json }));
  // No two pushes come in one millisecond.
  clock.advance(1);
}

async function messages(path: string): Promise<readonly string[]> {
  const { json } = await ama()({ path: `${path}/deliveries` });
  return (json as { message: string }[]).map(({ message }) => message).reverse();
}

async function outcomes(path: string): Promise<readonly string[]> {
  const { json } = await ama()({ path: `${path}/why` });
  return (json as { outcome: string }[]).map(({ outcome }) => outcome).reverse();
}

test('what is older than the newest of its sensor neither breaks a for nor clears', async () => {
  const { device, path } = await rule('T > 8 for 10m');
  await push(device, { value: 12, timestamp: ago(20 * minute) });
  await push(device, { value: 4, timestamp: ago(600 * minute) });
  await push(device, { value: 12, timestamp: ago(5 * minute) });
  assert.deepEqual(await outcomes(path), ['waiting', 'late', 'sent']);
  const raised = await rule('T > 8 clear T < 5');
  await push(raised.device, { value: 12 });
  for (let at = 1; at < 10; at += 1) {
    await push(raised.device, { value: 4, timestamp: ago(600 * minute + at) });
    await push(raised.device, { value: 12 });
  }
  assert.equal((await messages(raised.path)).length, 1);
});

test('one array is evaluated in the order of its times', async () => {
  const { device, path } = await rule('T > 8 for 10m');
  const values = [
    { value: 12, timestamp: ago(5 * minute) },
    { value: 12, timestamp: ago(20 * minute) },
    { value: 4, timestamp: ago(30 * minute) },
  ];
  await push(device, values);
  assert.deepEqual(await outcomes(path), ['false', 'waiting', 'sent']);
});

test('a rule passes over what was measured longer ago than max_age', async () => {
  const { device, path } = await rule('T > 8', { max_age: 3_600 });
  const backlog = Array.from({ length: 60 }, (_, at) => ({
    value: 12,
    timestamp: ago(2_880 * minute - at * minute),
  }));
  await push(device, backlog);
  for (const one of backlog) await push(device, { ...one, value: 13 });
  assert.deepEqual(await messages(path), []);
  await push(device, { value: 14, timestamp: ago(3 * minute) });
  assert.match((await messages(path))[0] ?? '', /^14 2026-11-20T11:57:00\.\d{3}Z 3m$/);
  const { json } = await ama()({ path });
  const { condition } = json as { condition: { max_age?: number } };
  assert.equal(condition.max_age, 3_600);
  assertDone(await ama()({ method: 'PATCH', path, json: { condition: { max_age: null } } }));
  const changed = (await ama()({ path })).json as { condition: object };
  assert.ok(!('max_age' in changed.condition));
});

test('no valve opens by a value of two days ago, nor at a push of another sensor', async () => {
  const { device, path } = await rule('T > 8; H > 1', { max_age: 60 });
  await push(device, { value: 12, timestamp: ago(2_880 * minute) });
  await push(device, { value: 5 }, 'H');
  assert.deepEqual(await outcomes(path), ['late', 'false']);
});

test('what is no number is passed over, and neither holds nor breaks a for', async () => {
  const { device, path } = await rule('T > 8 for 10s');
  for (const value of [12, 12, 'nan', 12, null, 12]) {
    await push(device, { value });
    clock.advance(3_000);
  }
  assert.deepEqual(await outcomes(path), [
    ...['waiting', 'waiting', 'passed_over', 'waiting', 'passed_over', 'sent'],
  ]);
  const both = await rule('T > 8; H > 1');
  await push(both.device, { value: 12 });
  await push(both.device, { value: 'error' });
  await push(both.device, { value: 5 }, 'H');
  assert.deepEqual(await outcomes(both.path), ['false', 'passed_over', 'sent']);
});

test('an import evaluates no rule, and what came before it is history', async () => {
  const { device, path } = await rule('T > 8');
  const line = (value: number, timestamp: string) => ({
    device_id: device,
    sensor_id: 'T',
    value,
    timestamp,
  });
  const json = [line(12, ago(9 * minute)), line(13, ago(2 * minute))];
  const reply = await ama()({ method: 'POST', path: '/sensors_data?import=true', json });
  assert.deepEqual([reply.status, (reply.json as { stored: number }).stored], [200, 2]);
  clock.advance(1);
  assert.deepEqual(await outcomes(path), []);
  await push(device, { value: 14, timestamp: ago(3 * minute) });
  await push(device, { value: 15 });
  assert.deepEqual(await outcomes(path), ['late', 'sent']);
});

test('a preview says how many datapoints came late', async () => {
  const { device, notification } = await rule('T > 8 for 10m', { max_age: 3_600 });
  await push(device, { value: 12, timestamp: ago(600 * minute) });
  await push(device, { value: 12, timestamp: ago(5 * minute) });
  await push(device, { value: 12, timestamp: ago(30 * minute) });
  const json = { from: ago(1_000 * minute), notification };
  const reply = await ama()({ method: 'POST', path: '/notifications/preview', json });
  const { came_late, fired } = reply.json as Record<string, unknown>;
  assert.deepEqual([came_late, fired], [2, 2]);
});

test('a number that a double cannot hold does not fire the rule of its neighbour', async () => {
  const { device, path } = await rule('T == 840380235174088834');
  const body = (last: number) => `{"value": 84038023517408883${last}}`;
  for (const last of [5, 4]) {
    const headers = { 'content-type': 'application/json' };
    const at = `/devices/${device}/sensors/T/values`;
    assertDone(await ama()({ method: 'POST', path: at, headers, body: body(last) }));
    clock.advance(1);
  }
  assert.deepEqual(await outcomes(path), ['false', 'sent']);
});

test('a comma between numbers is said to list values, in previews and of the rule', async () => {
  const { notification, path } = await rule('T == 8,5; H != 1,2,3');
  const json = { from: ago(minute), notification };
  const preview = await ama()({ method: 'POST', path: '/notifications/preview', json });
  const read = (await ama()({ path })).json as { expression_note?: string };
  const { expression_note: note } = preview.json as { expression_note?: string };
  assert.equal(
    note,
    'T == 8,5 holds at each of 8 and 5; H != 1,2,3 holds at none of 1 and 2 and 3: ' +
      'a comma lists values, a decimal point is a full stop',
  );
  assert.equal(read.expression_note, note);
  for (const expression of ['T == 8.5', 'T == a,b', 'silent(T, 1h)']) {
    const plain = (await ama()({ path: (await rule(expression)).path })).json as object;
    assert.ok(!('expression_note' in plain), expression);
  }
});

test('a message about a silence says when it was measured last, and how long ago', async () => {
  const { device, path } = await rule('silent(T, 5m)');
  const never = await rule('silent(T, 5m)');
  const [measured, made] = [ago(10 * minute), ago(0)];
  await push(device, { value: 12, timestamp: measured });
  await push(device, { value: 11, timestamp: ago(20 * minute) });
  clock.advance(5 * minute);
  const told = async (of: string) => {
    // The clock is looked at ten times a second.
    for (let tries = 0; tries < 100; tries += 1) {
      const [message] = await messages(of);
      if (message !== undefined) return message;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    return undefined;
  };
  assert.equal(await told(path), `12 ${measured} 15m`);
  assert.equal(await told(never.path), `{T} ${made} 5m`);
});

test('a value dated tomorrow makes nothing that comes after it history', async () => {
  const { device, path } = await rule('T > 8');
  const other = await rule('T > 8;H > 1');
  for (const id of [device, other.device]) {
    await push(id, { value: 5 }, 'H');
    // By a device whose clock is wrong, or by a stranger where it is public.
    await push(id, { value: 1, timestamp: ago(-1_380 * minute) });
    await push(id, { value: 9 });
    await push(id, { value: 3, timestamp: ago(0) });
    await push(id, { value: 10, timestamp: ago(-minute / 2) });
  }
  assert.deepEqual(await outcomes(path), ['false', 'sent', 'false', 'sent']);
  assert.equal((await messages(other.path)).length, 2);
});

test('a clock half a minute ahead keeps the order of its values, in previews too', async () => {
  const { device, path, notification } = await rule('T > 8');
  const from = ago(minute);
  await push(device, { value: 5, timestamp: ago(-minute / 2) });
  await push(device, { value: 9, timestamp: ago(-minute / 6) });
  for (let count = 5; count > 0; count -= 1) {
    await push(device, { value: 9, timestamp: ago(count) });
  }
  assert.deepEqual(await outcomes(path), ['false', ...Array(6).fill('late')]);
  clock.advance(minute);
  const json = { from, notification };
  const preview = await ama()({ method: 'POST', path: '/notifications/preview', json });
  assert.equal((preview.json as { came_late: number }).came_late, 6);
});

test('a value dated tomorrow is not the newest after a restart', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'kipimo-test-'));
  const options = { clock, channels: channels.open, directory };
  const device = { id: 'dated', sensors: [{ id: 'T' }, { id: 'H' }] };
  const send = (at: Service, sensor: string, json: object) => {
    clock.advance(1_000);
    const path = `/devices/dated/sensors/${sensor}/value`;
    return at.as('ama')({ method: 'POST', path, json });
  };
  let id = '';
  {
    await using first = await startService(options);
    await first.as('ama')({ method: 'POST', path: '/devices', json: device });
    const condition = { devices: ['dated'], sensors: ['T', 'H'], expression: 'T > 8;H > 1' };
    const action = { usernames: ['ama'], channels: ['sms'], message: '{T}' };
    const json = { condition, action };
    const made = await first.as('ama')({ method: 'POST', path: '/notifications', json });
    assert.equal(made.status, 200, made.text);
    id = made.text;
    // More than are read when the device is asked for again.
    for (let count = 0; count < 25; count += 1) {
      assertDone(await send(first, 'T', { value: 1, timestamp: ago(-1_380 * minute) }));
    }
    assertDone(await send(first, 'T', { value: 9, timestamp: ago(-500) }));
  }
  clock.advance(minute);
  await using second = await startService(options);
  assertDone(await send(second, 'H', { value: 2 }));
  const path = `/notifications/${id}/deliveries`;
  const sent = async () => ((await second.as('ama')({ path })).json as unknown[]).length;
  assert.equal(await sent(), 1);
  assertDone(await send(second, 'T', { value: 10 }));
  assert.equal(await sent(), 2);
});
