import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { connectAsync } from 'mqtt';
import { type Call, type Reply, type Service, startService } from '../service.ts';
import { createRecordingChannels } from './recording-channels.ts';

// Every object of JavaScript has these, or gives them a meaning, whether anybody put them there.
const names = ['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'valueOf'];
const accounts = names.filter((name) => /^[A-Za-z]/.test(name));

const channels = createRecordingChannels(['sms', 'email']);

type Send = (request: Omit<Call, 'token'>) => Promise<Reply>;

async function done(reply: Promise<Reply>): Promise<Reply> {
  const { status, text, ...others } = await reply;
  assert.ok(status < 300, `${status} ${text}`);
  return { status, text, ...others };
}

function conditionsOn(name: string): readonly object[] {
  return [
    { devices: [name], sensors: [name] },
    { sensors: [name], expression: `${name} > 1` },
    { devices: names, sensors: names, expression: `${name} > 1 clear ${name} < 0` },
    { devices: [name], expression: `${name} > 1 for 1s` },
    { devices: [name], expression: `silent(${name}, 1s)` },
  ];
}

/** Makes every kind of thing by every one of the names. */
async function make(send: Send): Promise<void> {
  const message = names.map((name) => `{${name}} \${${name}}`).join(' ');
  for (const name of names) {
    const parts = names.map((id) => ({ id, name: id, meta: JSON.parse(`{"${id}": 1}`) }));
    const device = { id: name, gateway_id: name, domain: name, sensors: parts, actuators: parts };
    await done(send({ method: 'POST', path: '/devices', json: { ...device, name } }));
    await done(send({ method: 'POST', path: '/gateways', json: { id: name, name } }));
    const project = { name, device_ids: names, gateway_ids: names };
    await done(send({ method: 'POST', path: '/projects', json: project }));
    await done(send({ method: 'PUT', path: `/gateways/${name}/health`, json: { [name]: 1 } }));
    for (const condition of conditionsOn(name)) {
      const action = { usernames: [...names, 'ama'], channels: ['sms'], message };
      const notification = { condition, action, description: name };
      await done(send({ method: 'POST', path: '/notifications', json: notification }));
      const actuate = { device_id: name, actuator_id: name, actuator_value: { [name]: message } };
      const other = { condition, action: { type: 'ActuationAction', value: actuate } };
      await done(send({ method: 'POST', path: '/notifications', json: other }));
      const draft = { from: '2026-01-01T00:00:00Z', notification };
      await done(send({ method: 'POST', path: '/notifications/preview', json: draft }));
    }
  }
}

/** Pushes to each sensor by every protocol. */
async function push(service: Service, send: Send, value: number): Promise<void> {
  const rows = names.flatMap((device_id) =>
    names.map((sensor_id) => ({ device_id, sensor_id, value })),
  );
  await done(send({ method: 'POST', path: '/sensors_data', json: rows }));
  for (const name of names) {
    const path = `/devices/${name}/sensors/${name}`;
    const body = `value,${names.join(',')}\n${value + 1}${',1'.repeat(names.length)}\n`;
    await done(send({ method: 'POST', path: `${path}/values`, body, type: 'text/csv' }));
    const meta = JSON.parse(`{"${name}": ${value}}`);
    await done(send({ method: 'POST', path: `${path}/value`, json: { value: value + 2 } }));
    await done(send({ method: 'POST', path: `${path}/value`, json: meta }).then(orRefused));
    await done(send({ method: 'PUT', path: `/devices/${name}/actuators/${name}/value`, json: 1 }));
    const line = `${name},${name}=${name},device=${name} ${name}=${value + 3}`;
    await send({ method: 'POST', path: '//api/v2/write', body: line }).then(known);
  }
  const client = await connectAsync(service.mqttUrl, {
    username: 'ama',
    password: await service.tokenOf('ama'),
  });
  for (const name of names) {
    await client.subscribeAsync(`devices/${name}/sensors/${name}/value`, { qos: 1 });
    const topic = `devices/${name}/sensors/${name}/value`;
    await client.publishAsync(topic, String(value + 4), { qos: 1, retain: true });
    await client.publishAsync(name, 'x', { qos: 1 });
  }
  await client.endAsync();
}

const orRefused = (reply: Reply): Reply =>
  reply.status === 400 ? { ...reply, status: 204 } : reply;

function known(reply: Reply): void {
  assert.ok(reply.status < 500, `${reply.status} ${reply.text}`);
}

/** Reads by every way that takes one of the names. */
async function read(send: Send): Promise<void> {
  for (const name of names) {
    const range = 'aggregate=avg&interval=1h&dateFrom=2026-01-01';
    const sensor = `/devices/${name}/sensors/${name}`;
    for (const path of [
      `/devices/${name}`,
      `/devices?q=${name}>1`,
      `/devices?q=meta.${name}==1`,
      `/devices?q=${name}~='1'`,
      sensor,
      `${sensor}/values?lastN=5`,
      `${sensor}/values?${range}`,
      `${sensor}/values?points=10`,
      `/sensors_data?device_id=${names.join(',')}&sensor_id=${name}`,
      `/gateways/${name}?full=true`,
      `/projects?full=true`,
      `/ontologies/${name}`,
      `/users?username=${name}`,
      `/devices/${name}?${name}=${name}`,
      '/notifications',
      '/auth/permissions/devices',
      '/users/me/grants',
    ]) {
      const reply = await send({ path: path.replaceAll(/[>'~]/g, encodeURIComponent) });
      assert.ok(reply.status === 200 || reply.status === 404, `${path}: ${reply.text}`);
    }
  }
  const list = (await done(send({ path: '/notifications?limit=1000' }))).json;
  for (const { id } of list as readonly { readonly id: string }[]) {
    await done(send({ path: `/notifications/${id}/why` }));
    await done(send({ path: `/notifications/${id}/deliveries` }));
  }
}

test('ids that every object inherits pass through every feature and every start', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'kipimo-names-'));
  const start = () => startService({ directory, channels: channels.open });
  try {
    {
      await using service = await start();
      const send = service.as('ama');
      for (const name of accounts) await service.tokenOf(name);
      await make(send);
      for (const name of names) {
        const path = `/devices/${name}/grants/${accounts[0]}`;
        await done(send({ method: 'PUT', path, json: ['device:view'] }));
      }
      await push(service, send, 10);
      await read(send);
      const last = await send({ path: '/devices/constructor/sensors/constructor' });
      assert.equal((last.json as { value: { value: unknown } }).value.value, 14);
    }
    // What fired is remembered by sensor, and looked at again at every start.
    const told = channels.sent.length;
    for (const value of [20, 30]) {
      await using service = await start();
      assert.equal(channels.sent.length >= told, true);
      await push(service, service.as('ama'), value);
      await read(service.as('ama'));
    }
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
});
