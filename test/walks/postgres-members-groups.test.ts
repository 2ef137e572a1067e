// In a process of its own: it starts a database server and several processes that share it.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import mqtt, { type MqttClient } from 'mqtt';
import { noPostgres, postgresOfTests } from '../postgres-schemas.ts';
import { fieldOf, type MemberProcess } from './member-processes.ts';

const patienceMs = 15_000;
const topic = 'devices/field/sensors/s/value';

async function until(isTrue: () => boolean, what: () => string): Promise<void> {
  const giveUpAt = performance.now() + patienceMs;
  while (!isTrue()) {
    assert.ok(performance.now() < giveUpAt, what());
    await wait(20);
  }
}

const field = async (schema: string) => fieldOf(await postgresOfTests(), schema);

/** A member of the group `pair`, and what it got. */
interface Listener {
  readonly client: MqttClient;
  readonly got: string[];
  /** Of those, the ones that said that they may be repeated. */
  readonly repeated: string[];
}

async function join(
  { running }: MemberProcess,
  token: string,
  { clientId, qos, isKept = false }: { clientId: string; qos: 0 | 1 | 2; isKept?: boolean },
): Promise<Listener> {
  const [got, repeated]: [string[], string[]] = [[], []];
  const client = mqtt.connect(running.mqttUrl, {
    ...{ username: 'x', password: token, clientId, reconnectPeriod: 0, protocolVersion: 5 },
    ...(isKept && { clean: false, properties: { sessionExpiryInterval: 3_600 } }),
  });
  client.on('error', () => undefined);
  client.on('message', (on, payload, { dup }) => {
    const said: unknown = JSON.parse(String(payload));
    const value = on === topic ? (said as { value: unknown }).value : said;
    got.push(String(value));
    if (dup) repeated.push(String(value));
  });
  await new Promise<void>((resolve) => client.once('connect', () => resolve()));
  await client.subscribeAsync(`$share/pair/devices/field/#`, { qos });
  return { client, got, repeated };
}

async function publish(
  { running }: MemberProcess,
  token: string,
  { from, to, qos }: { from: number; to: number; qos: 0 | 1 | 2 },
): Promise<void> {
  const login = { username: 'x', password: token, reconnectPeriod: 0 };
  const publisher = await mqtt.connectAsync(running.mqttUrl, login);
  for (let value = from; value < to; value += 1) {
    await publisher.publishAsync(topic, JSON.stringify({ value }), { qos });
  }
  await publisher.endAsync();
}

const range = (from: number, to: number): string[] =>
  Array.from({ length: to - from }, (_, at) => String(from + at));
const sorted = (values: readonly string[]): string[] =>
  values.toSorted((a, b) => Number(a) - Number(b));

describe('groups of processes that share a database', { skip: noPostgres }, () => {
  for (const qos of [0, 1, 2] as const) {
    test(`one member of all processes gets a message with QoS ${qos}`, async () => {
      const { one, other, ama } = await field(`groups_${qos}`);
      await using _one = one;
      await using _other = other;
      const here = await join(one, ama, { clientId: 'a', qos });
      const there = await join(other, ama, { clientId: 'b', qos });
      await publish(one, ama, { from: 0, to: 30, qos });
      await publish(other, ama, { from: 30, to: 60, qos });
      const all = () => [...here.got, ...there.got];
      await until(
        () => all().length >= 60,
        () => `got ${here.got} and ${there.got}`,
      );
      await wait(1_500);
      assert.deepEqual(sorted(all()), range(0, 60));
      for (const { got } of [here, there]) {
        // In the order of each publisher.
        const [first, second] = [
          got.filter((one) => Number(one) < 30),
          got.filter((one) => Number(one) >= 30),
        ];
        assert.deepEqual(first, sorted(first));
        assert.deepEqual(second, sorted(second));
      }
      await Promise.all([here.client.endAsync(), there.client.endAsync()]);
    });
  }

  test('what is pushed and set over HTTP one member gets, each time', async () => {
    const { one, other, ama } = await field('groups_http');
    await using _one = one;
    await using _other = other;
    const here = await join(one, ama, { clientId: 'a', qos: 1 });
    const there = await join(other, ama, { clientId: 'b', qos: 1 });
    for (let round = 0; round < 5; round += 1) {
      for (const { call } of [one, other]) {
        const [value, set] = [{ value: 7 }, 8];
        const device = '/devices/field';
        const push = { method: 'POST', path: `${device}/sensors/s/value`, token: ama, json: value };
        assert.equal((await call(push)).status, 204);
        const setting = {
          ...{ method: 'PUT', path: `${device}/actuators/pump/value`, token: ama, json: set },
        };
        assert.equal((await call(setting)).status, 204);
      }
    }
    await wait(1_500);
    const all = sorted([...here.got, ...there.got]);
    assert.deepEqual(all, [...Array(10).fill('7'), ...Array(10).fill('8')]);
    await Promise.all([here.client.endAsync(), there.client.endAsync()]);
  });

  test('members that are away wait behind one that is there, at whatever process', async () => {
    const { one, other, ama } = await field('groups_away');
    await using _one = one;
    await using _other = other;
    const away = await join(one, ama, { clientId: 'a', qos: 1, isKept: true });
    await away.client.endAsync();
    const there = await join(other, ama, { clientId: 'b', qos: 1 });
    await wait(1_500);
    await publish(one, ama, { from: 0, to: 20, qos: 1 });
    await until(
      () => there.got.length >= 20,
      () => `got ${there.got}`,
    );
    assert.deepEqual(there.got, range(0, 20));
    await there.client.endAsync();
    await wait(1_000);
    // Nobody is there any more: they wait for the one that is away.
    await publish(other, ama, { from: 20, to: 30, qos: 1 });
    await wait(3_000);
    const back = await join(other, ama, { clientId: 'a', qos: 1, isKept: true });
    await until(
      () => back.got.length >= 10,
      () => `got ${back.got}`,
    );
    await wait(500);
    assert.deepEqual(back.got, range(20, 30));
    await back.client.endAsync();
  });

  test('what a member of a killed process did not acknowledge another one gets', async () => {
    const { one, other, ama } = await field('groups_killed');
    await using _one = one;
    await using _other = other;
    const mute = await join(one, ama, { clientId: 'a', qos: 1 });
    // Acknowledges nothing.
    mute.client.handleMessage = () => undefined;
    await publish(one, ama, { from: 0, to: 10, qos: 1 });
    await until(
      () => mute.got.length > 0,
      () => 'it got nothing',
    );
    const there = await join(other, ama, { clientId: 'b', qos: 1 });
    one.running.kill('SIGKILL');
    for (let value = 10; value < 40; value += 1) {
      await publish(other, ama, { from: value, to: value + 1, qos: 1 });
    }
    await until(
      () => new Set(there.got).size >= 40,
      () => `got ${there.got}`,
    );
    await wait(500);
    assert.deepEqual(sorted([...new Set(there.got)]), range(0, 40));
    assert.equal(there.got.length, 40);
    // The other member may have had them.
    assert.deepEqual(sorted(there.repeated).slice(0, 10), range(0, 10));
    assert.ok(there.repeated.length < 40, `${there.repeated}`);
    await there.client.endAsync();
  });
});
