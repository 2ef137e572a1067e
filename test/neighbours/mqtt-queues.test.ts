import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import mqtt from 'mqtt';
import { type Neighbourhood, servedMsMax, startNeighbourhood } from './neighbours.ts';
import { connectRaw, manyTimes } from './raw-mqtt.ts';

const device = { id: 'wasteland', sensors: [{ id: 's' }] };

async function makeDevice({ call }: Neighbourhood): Promise<void> {
  const made = await call({ method: 'POST', path: '/devices', json: device });
  assert.ok([204, 422].includes(made.status), made.text);
}

test('sessions left behind and large publishes stop nobody’s deliveries', async () => {
  // Small enough to be full before the attack is over.
  const totals = 'mqtt_queued_bytes=8388608';
  await using neighbourhood = await startNeighbourhood({ environment: { KIPIMO_BUDGETS: totals } });
  await makeDevice(neighbourhood);
  await neighbourhood.attack(async () => {
    await manyTimes(1_500, async (index) => {
      const client = await connectRaw(neighbourhood.mqttUrl, { clientId: `left-${index}` });
      const subscriptions = [{ topic: '#', qos: 1 as const }];
      await client?.send({ cmd: 'subscribe', messageId: 1, subscriptions });
      await client?.next('suback');
      client?.drop();
    });
    const publisher = await connectRaw(neighbourhood.mqttUrl, { clientId: 'publisher' });
    for (let messageId = 1; messageId <= 40; messageId += 1) {
      await publisher?.send({
        ...{ cmd: 'publish', topic: 'devices/wasteland/page', payload: Buffer.alloc(250_000) },
        ...{ qos: 1, messageId, dup: false, retain: false },
      });
      await publisher?.next('puback');
    }
    // As many small ones as each of them may have in its queue.
    for (let batch = 0; batch < 20; batch += 1) {
      for (let at = 0; at < 50; at += 1) {
        await publisher?.send({
          ...{ cmd: 'publish', topic: 'devices/wasteland/note', payload: 'x', qos: 1 },
          ...{ messageId: 100 + at, dup: false, retain: false },
        });
      }
      for (let at = 0; at < 50; at += 1) await publisher?.next('puback');
    }
    assert.ok(await getsMessages(neighbourhood), 'her message with QoS 1 never came');
    publisher?.drop();
  });
  await neighbourhood.restart();
});

/** Whether a message with QoS 1 comes to an account that is there and waits for it. */
async function getsMessages(neighbourhood: Neighbourhood): Promise<boolean> {
  const password = await neighbourhood.tokenOf('bea');
  const client = await mqtt.connectAsync(neighbourhood.mqttUrl, {
    ...{ protocolVersion: 5, reconnectPeriod: 0, username: 'bea', password },
  });
  const came = new Promise<boolean>((resolve) => {
    client.once('message', () => resolve(true));
  });
  await client.subscribeAsync('devices/wasteland/bea', { qos: 1 });
  await client.publishAsync('devices/wasteland/bea', 'hello', { qos: 1 });
  const hasCome = await Promise.race([came, setTimeout(servedMsMax, false)]);
  await client.endAsync(true);
  return hasCome;
}

test('guests who fill sessions and retained messages refuse no account', async () => {
  const totals = 'mqtt_sessions=2000,mqtt_retained=2000';
  await using neighbourhood = await startNeighbourhood({ environment: { KIPIMO_BUDGETS: totals } });
  await makeDevice(neighbourhood);
  const token = await neighbourhood.tokenOf('ann');
  /** How often so many guests were refused, from such addresses of this machine. */
  const flood = async (name: string, count: number, hostOf: (index: number) => number) => {
    let refused = 0;
    await manyTimes(count, async (index) => {
      const [place, address] = [neighbourhood.mqttUrl, `127.0.0.${hostOf(index)}`];
      const client = await connectRaw(place, { clientId: `${name}-${index}` }, address);
      if (client === undefined) refused += 1;
      await client?.send({
        ...{ cmd: 'publish', topic: `devices/wasteland/${name}/${index}`, payload: 'x' },
        ...{ qos: 1, messageId: 1, dup: false, retain: true },
      });
      const answer = await client?.next('puback');
      if (answer?.cmd === 'puback' && answer.reasonCode === 0x97) refused += 1;
      // Every other one stays.
      if (index % 2 === 0) client?.drop();
    });
    return refused;
  };
  await neighbourhood.attack(async () => {
    const ofOne = await flood('one', 160, () => 2);
    assert.ok(ofOne > 20, `${ofOne} of one address were refused`);
    const ofMany = await flood('many', 600, (index) => 3 + (index % 16));
    assert.ok(ofMany > 60, `${ofMany} of many addresses were refused`);
  });
  const own = await mqtt.connectAsync(neighbourhood.mqttUrl, {
    ...{ protocolVersion: 5, clean: false, clientId: 'a', reconnectPeriod: 0 },
    ...{ username: 'ann', password: token, properties: { sessionExpiryInterval: 60 } },
  });
  await own.publishAsync('devices/wasteland/kept/ann', 'x', { qos: 1, retain: true });
  await own.endAsync(true);
});

test('strangers in a group take nothing from the workers of an account', async () => {
  await using neighbourhood = await startNeighbourhood();
  await makeDevice(neighbourhood);
  const filter = '$share/workers/devices/+/sensors/+/value';
  await manyTimes(18, async (index) => {
    const client = await connectRaw(neighbourhood.mqttUrl, { clientId: `thief-${index}` });
    await client?.send({
      ...{ cmd: 'subscribe', messageId: 1, subscriptions: [{ topic: filter, qos: 1 }] },
    });
    await client?.next('suback');
  });
  const password = await neighbourhood.tokenOf('ann');
  const worker = await mqtt.connectAsync(neighbourhood.mqttUrl, {
    ...{ protocolVersion: 5, reconnectPeriod: 0, username: 'ann', password },
  });
  let received = 0;
  worker.on('message', (topic) => {
    if (topic.startsWith('devices/wasteland/')) received += 1;
  });
  await worker.subscribeAsync(filter, { qos: 1 });
  await neighbourhood.attack(async () => {
    for (let value = 0; value < 20; value += 1) {
      const path = '/devices/wasteland/sensors/s/value';
      await neighbourhood.call({ method: 'POST', path, json: { value } });
    }
  });
  assert.equal(received, 20, `${received} of 20 values came to the worker`);
  await worker.endAsync(true);
});
