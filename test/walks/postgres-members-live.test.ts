// In a process of its own: it starts a database server and several processes that share it.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import mqtt from 'mqtt';
import { findPostgres, onServer, type PostgresServer, sharedPostgres } from '../postgres-server.ts';
import { fieldOf, type MemberProcess, membersOf, signUp } from './member-processes.ts';

const isAbsent = process.env['TEST_POSTGRES'] === 'off' || findPostgres() === undefined;
const patienceMs = 10_000;

interface Heard {
  readonly topic: string;
  readonly text: string;
  readonly qos: number;
}

/** A subscriber at one process, and what it got. */
async function subscribe({ running }: MemberProcess, token: string, filter: string) {
  const client = await mqtt.connectAsync(running.mqttUrl, { username: 'x', password: token });
  const heard: Heard[] = [];
  client.on('message', (topic, payload, { qos }) =>
    heard.push({ topic, text: String(payload), qos }),
  );
  await client.subscribeAsync(filter, { qos: 2 });
  return { client, heard };
}

async function until(isTrue: () => boolean, what: string): Promise<void> {
  const giveUpAt = performance.now() + patienceMs;
  while (!isTrue()) {
    assert.ok(performance.now() < giveUpAt, what);
    await wait(20);
  }
}

/** Subscribes again and again at the other process, as values are pushed to the one. */
async function comeAndGo(server: PostgresServer): Promise<void> {
  const schema = 'members_wanted';
  const { one, other, ama } = await fieldOf(server, schema);
  await using _one = one;
  await using _other = other;
  const entries = async (): Promise<number> => {
    const written = `select count(*)::integer as n from ${schema}.feed_log
      where starts_with(entry, '["datapoints"')`;
    return (await onServer(server.url, written)).rows[0].n;
  };
  const push = async (value: number): Promise<void> => {
    const path = '/devices/field/sensors/s/value';
    const pushed = await one.call({ method: 'POST', path, token: ama, json: { value } });
    assert.equal(pushed.status, 204);
  };
  const wants = `select bit_or(wants)::text as wants from ${schema}.writers where writer <> 0`;
  const nobodyWants = async (): Promise<void> => {
    const giveUpAt = performance.now() + patienceMs;
    while (!/^0+$/.test((await onServer(server.url, wants)).rows[0].wants)) {
      assert.ok(performance.now() < giveUpAt, 'what is wanted no longer was not given up');
      await wait(20);
    }
  };
  await nobodyWants();
  await push(0);
  assert.equal(await entries(), 0);
  for (let round = 1; round <= 6; round += 1) {
    // Just after everything was given up, and at any other moment.
    if (round % 2 === 0) await nobodyWants();
    else await wait(Math.random() * 4_500);
    const { client, heard } = await subscribe(other, ama, 'devices/field/sensors/+/value');
    await push(round);
    await until(() => heard.length > 0, `the value of round ${round}`);
    assert.equal((JSON.parse(heard[0]?.text ?? '') as { value: number }).value, round);
    await client.endAsync();
  }
  assert.ok((await entries()) > 0);
}

/** Pushes and publishes arrays that one entry of the log cannot hold. */
async function pushLong(server: PostgresServer): Promise<void> {
  const { one, other, ama } = await fieldOf(server, 'members_long');
  await using _one = one;
  await using _other = other;
  const path = '/devices/field/sensors/s/values';
  const { client, heard } = await subscribe(other, ama, path.slice(1));
  const publisher = await mqtt.connectAsync(one.running.mqttUrl, {
    username: 'x',
    password: ama,
  });
  const values = () =>
    heard.flatMap(({ text }) => (JSON.parse(text) as { value: unknown }[]).map((e) => e.value));
  const came = async (all: readonly unknown[], what: string) => {
    await until(() => values().length >= all.length, `all of ${what}`);
    assert.deepEqual(values(), all, what);
    heard.length = 0;
  };
  try {
    const numbers = Array.from({ length: 2_600 }, (_, value) => ({ value }));
    const pushed = await one.call({ method: 'POST', path, token: ama, json: numbers });
    assert.equal(pushed.status, 204);
    await came(
      numbers.map(({ value }) => value),
      'a push',
    );
    const texts = Array.from({ length: 1_700 }, (_, at) => ({ value: `text ${at}` }));
    const publish = (all: readonly unknown[]) =>
      publisher.publishAsync(path.slice(1), JSON.stringify(all), { qos: 1 });
    await publish(texts);
    await until(() => heard.length > 0, 'a publish');
    // As it was published.
    assert.deepEqual(
      heard.map(({ text, qos }) => [text, qos]),
      [[JSON.stringify(texts), 1]],
    );
    heard.length = 0;
    await publish([...texts.slice(0, 1_200), { no: 1 }, ...texts.slice(1_200)]);
    assert.ok(heard.every(({ qos }) => qos === 1));
    await came(
      texts.map(({ value }) => value),
      'a publish with an element that is refused',
    );
  } finally {
    await Promise.all([client.endAsync(true), publisher.endAsync(true)]);
  }
}

describe('what is live in processes that share a database', {
  skip: isAbsent && 'needs PostgreSQL',
}, () => {
  let server: PostgresServer;
  before(async () => {
    server = await sharedPostgres();
  });
  after(() => server.close());

  test('a value that one took reaches subscribers at the other, as it was sent', async () => {
    const start = await membersOf(server, 'members_live');
    await using one = await start();
    await using other = await start();
    const ama = await signUp(one, 'ama');
    const json = { id: 'field', sensors: [{ id: 's' }], actuators: [{ id: 'pump' }] };
    assert.equal(
      (await one.call({ method: 'POST', path: '/devices', token: ama, json })).status,
      204,
    );
    const { client, heard } = await subscribe(other, ama, 'devices/field/#');
    const publisher = await mqtt.connectAsync(one.running.mqttUrl, {
      username: 'x',
      password: ama,
    });
    try {
      const path = '/devices/field/sensors/s/value';
      for (let value = 0; value < 50; value += 1) {
        const pushed = await one.call({ method: 'POST', path, token: ama, json: { value } });
        assert.equal(pushed.status, 204);
      }
      await until(() => heard.length === 50, `it heard ${heard.length} of 50`);
      assert.deepEqual(
        heard.map(({ text }) => (JSON.parse(text) as { value: number }).value),
        Array.from({ length: 50 }, (_, at) => at),
      );
      const body = '{ "value": 7.50, "note": "as it is" }';
      await publisher.publishAsync('devices/field/sensors/s/value', body, { qos: 2 });
      await until(() => heard.length === 51, 'a publish with QoS 2');
      assert.deepEqual(heard[50], { topic: 'devices/field/sensors/s/value', text: body, qos: 2 });
      const set = await one.call({
        ...{ method: 'PUT', path: '/devices/field/actuators/pump/value', token: ama, json: true },
      });
      assert.ok(set.status < 300, set.text);
      await until(() => heard.length === 52, 'what an actuator was set to');
      assert.deepEqual(
        [heard[51]?.topic, heard[51]?.text],
        ['devices/field/actuators/pump/value', 'true'],
      );
    } finally {
      await Promise.all([client.endAsync(true), publisher.endAsync(true)]);
    }
  });

  test('all of a long push reaches those at the other who subscribed to arrays', () =>
    pushLong(server));

  test('values that nobody wants are not written for others, and come once somebody does', () =>
    comeAndGo(server));

  test('what an actuator was set to is heard, though its process is killed then', async () => {
    const { one, other, ama } = await fieldOf(server, 'members_set');
    await using _one = one;
    await using _other = other;
    const { client, heard } = await subscribe(other, ama, 'devices/field/#');
    try {
      const path = '/devices/field/actuators/pump/value';
      const set = await one.call({ method: 'PUT', path, token: ama, json: 'open' });
      one.running.kill('SIGKILL');
      assert.ok(set.status < 300, set.text);
      await until(() => heard.length === 1, 'what the actuator was set to');
      assert.deepEqual([heard[0]?.topic, heard[0]?.text], [path.slice(1), '"open"']);
    } finally {
      await client.endAsync(true);
    }
  });

  test('a notification and a correction made at one hold at the other', async () => {
    const start = await membersOf(server, 'members_rules');
    await using one = await start();
    await using other = await start();
    const alarms: string[] = [];
    const receiver = createServer((request, response) => {
      request.on('data', (part) => alarms.push(String(part)));
      request.on('end', () => response.writeHead(204).end());
    }).listen(0, '127.0.0.1');
    await once(receiver, 'listening');
    try {
      const ama = await signUp(one, 'ama');
      const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`;
      const me = await one.call({
        ...{ method: 'PUT', path: '/users/me', token: ama },
        json: { username: 'ama', webhook: [url] },
      });
      assert.ok(me.status < 300, me.text);
      const json = { id: 'field', sensors: [{ id: 's' }] };
      await one.call({ method: 'POST', path: '/devices', token: ama, json });
      const rule = await one.call({
        ...{ method: 'POST', path: '/notifications', token: ama },
        json: {
          condition: { devices: ['field'], sensors: ['s'], expression: 's > 30' },
          action: { usernames: ['ama'], channels: ['webhook'], message: 'it is hot' },
        },
      });
      assert.ok(rule.status < 300, rule.text);
      const path = '/devices/field/sensors/s/value';
      await other.call({ method: 'POST', path, token: ama, json: { value: 31 } });
      await until(() => alarms.some((text) => text.includes('it is hot')), 'the alarm');

      const wrong = await one.call({
        ...{ method: 'DELETE', token: ama },
        path: '/devices/field/sensors/s/values?dateFrom=2000-01-01T00:00:00Z',
      });
      assert.equal(wrong.status, 200, wrong.text);
      const seen = await other.call({ path: '/devices/field/sensors/s/values', token: ama });
      assert.deepEqual(seen.json, []);
    } finally {
      receiver.closeAllConnections();
      receiver.close();
    }
  });
});
