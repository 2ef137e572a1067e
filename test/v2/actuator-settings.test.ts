import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { createManualClock } from '../manual-clock.ts';
import { type Client, connect } from '../mqtt/mqtt-clients.ts';
import { type Service, startService } from '../service.ts';
import { assertDone, assertRefused } from './refusal.ts';

const noon = Date.UTC(2026, 10, 22, 12);
const clock = createManualClock(noon);
// Nobody logs in again while the clock is moved.
const environment = { KIPIMO_TOKEN_TTL_S: '86400' };
let service: Service;
let created = 0;

before(async () => {
  service = await startService({ clock, environment });
});

after(() => service[Symbol.asyncDispose]());

const as = (username: string) => service.as(username);
const set = (pump: string, json: unknown, by = 'ama', query = '') =>
  as(by)({ method: 'PUT', path: `${pump}/value${query}`, json });
const read = async (pump: string, by = 'ama') => {
  const reply = await as(by)({ path: pump });
  assert.equal(reply.status, 200, reply.text);
  return reply.json as Readonly<Record<string, unknown>>;
};

/** A new device with a pump that is off. */
async function aPump(owner = 'ama', fields: object = {}): Promise<string> {
  created += 1;
  const id = `set-${created}`;
  const actuators = [{ id: 'pump', value_type: 'bool', value: false, ...fields }];
  const json = { id, visibility: 'public', actuators };
  assertDone(await as(owner)({ method: 'POST', path: '/devices', json }));
  return `/devices/${id}/actuators/pump`;
}

test('the actuator of an owned device is set by owner, admins and grantees only', async () => {
  const pump = await aPump();
  const grant = `${pump.replace(/\/actuators.*/, '')}/grants`;
  for (const [by, rights] of [
    ['kofi', ['device-data:create']],
    ['esi', ['device:update', 'device-data:view']],
  ] as const) {
    await service.tokenOf(by);
    assertDone(await as('ama')({ method: 'PUT', path: `${grant}/${by}`, json: rights }));
  }
  for (const by of ['ama', 'admin', 'kofi']) {
    assertDone(await set(pump, by, by));
    assert.equal((await read(pump, 'ama'))['value'], by);
  }
  for (const by of ['guest', 'stranger', 'esi']) {
    assertRefused(await set(pump, 'on', by), 403, { of: by, saying: /actuator/ });
    assertRefused(await set(pump, 'on', by, '?for=20m'), 403, { of: by });
    const confirmed = { value: 'kofi', confirmed: true };
    assertRefused(await set(pump, confirmed, by), 403, { of: by });
  }
  const path = pump.replace('/pump', '');
  assertRefused(await as('esi')({ method: 'POST', path, json: { id: 'pump', value: 1 } }), 403);
  assertDone(await as('esi')({ method: 'POST', path, json: { id: 'pump', name: 'Pump' } }));
  assert.equal((await read(pump))['value'], 'kofi');
});

test('KIPIMO_PUBLIC_PUSH concerns sensors only: a stranger who pushes sets nothing', async () => {
  const pump = await aPump();
  const device = pump.replace(/\/actuators.*/, '');
  const sensor = { id: 'TC1' };
  assertDone(await as('ama')({ method: 'POST', path: `${device}/sensors`, json: sensor }));
  const push = { method: 'POST', path: `${device}/sensors/TC1/value`, json: { value: 1 } };
  assertDone(await as('stranger')(push));
  assertRefused(await set(pump, true, 'stranger'), 403);
  const notification = {
    condition: { devices: [device.slice('/devices/'.length)], sensors: ['TC1'], expression: '' },
    action: {
      type: 'ActuationAction',
      value: {
        device_id: device.slice('/devices/'.length),
        actuator_id: 'pump',
        actuator_value: true,
      },
    },
  };
  const post = { method: 'POST', path: '/notifications', json: notification };
  assertRefused(await as('stranger')(post), 403);
  assert.equal((await as('ama')(post)).status, 200);
  assertDone(await as('stranger')({ ...push, json: { value: 2 } }));
  const after = await read(pump);
  assert.deepEqual([after['value'], after['set_by']], [true, 'ama']);
});

test('an actuator of the guest is set by anybody', async () => {
  const pump = await aPump('guest');
  for (const by of ['guest', 'stranger', 'admin']) {
    assertDone(await set(pump, by, by));
    const { value, set_by } = await read(pump, 'guest');
    assert.deepEqual([value, set_by], [by, by]);
  }
});

test('who set it and when follow the id, for those who may set it', async () => {
  const pump = await aPump('ama', { name: 'Pump', actuator_kind: 'Relay', meta: [1] });
  const described = '"actuator_kind":"Relay","name":"Pump","id":"pump"';
  const whole = `{"actuator_value_type":"bool","value":false,${described},"meta":[1]}`;
  assert.equal((await as('ama')({ path: pump })).text, whole);
  assertDone(await set(pump, true));
  const setting = '"set_by":"ama","set_at":"2026-11-22T12:00:00.000Z"';
  const after = `{"actuator_value_type":"bool","value":true,${described},${setting},"meta":[1]}`;
  assert.equal((await as('ama')({ path: pump })).text, after);
  assert.equal((await as('admin')({ path: pump.replace('/pump', '') })).text, `[${after}]`);
  for (const by of ['guest', 'stranger']) {
    assert.equal((await as(by)({ path: pump })).text, after.replace(`,${setting}`, ''), by);
  }
  const device = await as('ama')({ path: pump.replace(/\/actuators.*/, '') });
  assert.doesNotMatch(device.text, /set_by/);
});

test('a device confirms by the same value with "confirmed", and sets nothing', async () => {
  const pump = await aPump();
  assertDone(await set(pump, { open: 5 }));
  clock.advance(1_000);
  assertRefused(await set(pump, { value: true, confirmed: true }), 400, { saying: /not set/ });
  assert.equal((await read(pump))['confirmed_at'], undefined);
  assertDone(await set(pump, { value: { open: 5 }, confirmed: true }));
  const confirmed = await read(pump);
  assert.deepEqual(confirmed['value'], { open: 5 });
  const [setAt, confirmedAt] = [confirmed['set_at'], confirmed['confirmed_at']];
  assert.equal(Date.parse(String(confirmedAt)) - Date.parse(String(setAt)), 1_000);
  assertDone(await set(pump, { open: 5 }));
  assert.equal((await read(pump))['confirmed_at'], undefined);
  for (const value of [{ value: 1 }, { value: 1, confirmed: false }, { confirmed: true, x: 1 }]) {
    assertDone(await set(pump, value));
    assert.deepEqual((await read(pump))['value'], value);
  }
});

test('over MQTT, too: rights, confirmations, and nobody is told what was confirmed', async () => {
  const pump = await aPump();
  const topic = `${pump.slice(1)}/value`;
  await using watching = await connect(service);
  await watching.subscribe(topic);
  await using device = await connect(service, { as: 'ama' });
  await using old = await connect(service, { as: 'ama', protocolVersion: 4 });
  await using stranger = await connect(service, { as: 'stranger' });
  assert.equal(await codeOf(stranger, topic, 'true'), 0x87);
  await device.publish(topic, 'true');
  assert.deepEqual([(await read(pump))['value'], (await read(pump))['set_by']], [true, 'ama']);
  const confirmed = {
    qos: 1,
    properties: { userProperties: { a: 'b', confirmed: 'yes' } },
  } as const;
  assert.equal(await codeOf(device, topic, 'false', confirmed), 0x99);
  assert.equal(await codeOf(stranger, topic, 'true', confirmed), 0x87);
  assert.equal((await read(pump))['confirmed_at'], undefined);
  await device.publish(topic, 'true', confirmed);
  assert.ok((await read(pump))['confirmed_at']);
  await device.publish(topic, '1', {
    qos: 1,
    properties: { userProperties: { confirmed: 'false' } },
  });
  assert.deepEqual(
    [(await read(pump))['value'], (await read(pump))['confirmed_at']],
    [1, undefined],
  );
  await old.publish(topic, '{"value":1,"confirmed":true}');
  assert.ok((await read(pump))['confirmed_at']);
  await device.publish(topic, '"end"');
  const got = (await watching.got(3)).map(({ payload }) => payload);
  assert.deepEqual(got, ['true', '1', '"end"']);
});

const codeOf = (client: Client, topic: string, payload: string, options = { qos: 1 as const }) =>
  client.publish(topic, payload, options).then(
    () => 0,
    (error: { code?: number }) => error.code,
  );

/** Waits until the service has looked at its clock. */
async function untilValue(pump: string, value: unknown, from = service): Promise<void> {
  for (;;) {
    const reply = await from.as('ama')({ path: `${pump}/value` });
    if (reply.text === JSON.stringify(value)) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

test('PUT value?for=20m sets the actuator back afterwards, and tells those who watch', async () => {
  const pump = await aPump();
  await using watching = await connect(service, { as: 'ama' });
  await watching.subscribe(`${pump.slice(1)}/value`);
  assertRefused(await set(pump, true, 'ama', '?for='), 400, { saying: /for is empty/ });
  assertDone(await set(pump, true, 'ama', '?for=20m'));
  const { value, until } = await read(pump);
  assert.deepEqual([value, until], [true, new Date(clock.now() + 1_200_000).toISOString()]);
  assert.equal((await read(pump, 'stranger'))['until'], undefined);
  clock.advance(1_199_999);
  await new Promise((resolve) => setTimeout(resolve, 300));
  assert.equal((await read(pump))['value'], true);
  clock.advance(1);
  await untilValue(pump, false);
  const back = await read(pump);
  assert.deepEqual([back['until'], back['set_by']], [undefined, 'ama']);
  const got = (await watching.got(2)).map(({ payload }) => payload);
  assert.deepEqual(got, ['true', 'false']);
});

test('a longer time goes back to the first value, and a setting to stay stays', async () => {
  const [longer, stays] = [await aPump(), await aPump()];
  assertDone(await set(longer, true, 'ama', '?for=1m'));
  assertDone(await set(longer, 'fast', 'ama', '?for=2m'));
  assertDone(await set(stays, true, 'ama', '?for=1m'));
  assertDone(await set(stays, 'on'));
  assert.equal((await read(stays))['until'], undefined);
  clock.advance(60_000);
  await new Promise((resolve) => setTimeout(resolve, 600));
  assert.equal((await read(longer))['value'], 'fast');
  clock.advance(60_000);
  await untilValue(longer, false);
  assert.equal((await read(stays))['value'], 'on');
});

test('one that was never set goes back to off, zero or nothing', async () => {
  for (const [value, back] of [
    [true, false],
    [7, 0],
    ['open', null],
  ]) {
    const pump = await aPump('ama', { value: undefined });
    assertDone(await set(pump, value, 'ama', '?for=1s'));
    clock.advance(1_000);
    await untilValue(pump, back);
  }
});

test('a time that is none is refused, and nothing is set', async () => {
  const pump = await aPump();
  for (const time of ['0', '20', '-1m', '20 minutes', '0.5s', '367d', '1e9d', 'NaNs']) {
    const reply = await set(pump, true, 'ama', `?for=${encodeURIComponent(time)}`);
    assertRefused(reply, 400, { of: time, saying: /20m/ });
  }
  assert.equal((await read(pump))['value'], false);
  assertDone(await set(pump, true, 'ama', '?for=1.5h'));
});

test('what is to be set back is set back after a restart, also when its time is past', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'kipimo-test-'));
  const later = createManualClock(noon);
  const pumps = ['/devices/D/actuators/a', '/devices/D/actuators/b'] as const;
  const start = () => startService({ directory, clock: later, environment });
  {
    await using first = await start();
    const actuators = [
      { id: 'a', value: 1 },
      { id: 'b', value: 1 },
    ];
    const json = { id: 'D', actuators };
    assertDone(await first.as('ama')({ method: 'POST', path: '/devices', json }));
    for (const [index, pump] of pumps.entries()) {
      const path = `${pump}/value?for=${index + 1}h`;
      assertDone(await first.as('ama')({ method: 'PUT', path, json: 2 }));
    }
  }
  later.advance(3_600_000);
  {
    await using second = await start();
    assert.equal((await second.as('ama')({ path: `${pumps[0]}/value` })).text, '1');
    assert.equal((await second.as('ama')({ path: `${pumps[1]}/value` })).text, '2');
    later.advance(3_600_000);
    await untilValue(pumps[1], 1, second);
  }
  rmSync(directory, { recursive: true });
});

test('the guests of one address may have so many actuators set back, and no more', async () => {
  await using small = await startService({ environment: { KIPIMO_BUDGETS: 'timed_settings=200' } });
  const actuators = [1, 2, 3].map((id) => ({ id: `a${id}` }));
  const json = { id: 'G', actuators };
  assertDone(await small.call({ method: 'POST', path: '/devices', json }));
  const put = (id: number, query: string) =>
    small.call({ method: 'PUT', path: `/devices/G/actuators/a${id}/value${query}`, json: 1 });
  assertDone(await put(1, '?for=1h'));
  assertDone(await put(2, '?for=1h'));
  const refused = await put(3, '?for=1h');
  assert.deepEqual([refused.status, /timed_settings/.test(refused.text)], [403, true]);
  assertDone(await put(3, ''));
  assertDone(await put(1, ''));
  assertDone(await put(3, '?for=1h'));
});
