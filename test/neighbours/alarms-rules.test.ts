import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Reply } from '../service.ts';
import { type Neighbourhood, servedMsMax, startNeighbourhood } from './neighbours.ts';
import { residentMebibytes } from './unread.ts';

type Send = (method: string, path: string, json?: unknown) => Promise<Reply>;

const action = { usernames: ['eve'], channels: ['webhook'], message: '{TC1}' };
const names = (count: number, prefix = 'n') =>
  Array.from({ length: count }, (_, index) => `${prefix}${index}`);

async function stranger(world: Neighbourhood, name = 'eve'): Promise<Send> {
  const token = await world.tokenOf(name);
  return (method, path, json) => world.call({ method, path, token, json });
}

/** So many at a time. */
async function repeat(count: number, one: (index: number) => Promise<unknown>): Promise<void> {
  const lane = async (first: number) => {
    for (let index = first; index < count; index += 8) await one(index);
  };
  await Promise.all(Array.from({ length: 8 }, (_, first) => lane(first)));
}

test('a sensor named constructor in a rule ends nothing, now or at the next start', async () => {
  await using world = await startNeighbourhood();
  await world.attack(async () => {
    const send = await stranger(world);
    for (const id of ['constructor', '__proto__', 'toString']) {
      const made = await send('POST', '/devices', { id: `eve-${id}`, sensors: [{ id }] });
      assert.equal(made.status, 204, made.text);
      const condition = { devices: [`eve-${id}`], expression: `${id} > 1 for 1s clear ${id} < 0` };
      await send('POST', '/notifications', { condition, action });
      await send('POST', '/notifications', { condition: { sensors: [id] }, action });
      for (const value of [2, 3, 4]) {
        const path = `/devices/eve-${id}/sensors/${id}/value`;
        assert.equal((await send('POST', path, { value })).status, 204);
      }
    }
    // What has fired for one sensor is looked up for those that are pushed to after it.
    const ids = ['a', 'constructor', '__proto__', 'toString'];
    const sensors = ids.map((id) => ({ id }));
    const made = await send('POST', '/devices', { id: 'eve-all', sensors });
    assert.equal(made.status, 204, made.text);
    const expression = 'a > 1 clear a < 0';
    const condition = { devices: ['eve-all'], sensors: ids, expression };
    const rule = await send('POST', '/notifications', { condition, action });
    assert.equal(rule.status, 200, rule.text);
    for (const id of ids) {
      const pushed = await send('POST', `/devices/eve-all/sensors/${id}/value`, { value: 2 });
      assert.equal(pushed.status, 204, pushed.text);
    }
  });
  await world.restart('SIGKILL');
  const looked = /could not be|damaged|not a function/.exec(world.process.output());
  assert.equal(looked, null, world.process.output().slice(-2_000));
  const send = await stranger(world);
  const path = '/devices/eve-constructor/sensors/constructor/value';
  assert.equal((await send('POST', path, { value: 9 })).status, 204);
});

test('rules that name a thousand devices and a hundred sensors stay small', async () => {
  await using world = await startNeighbourhood();
  const statuses = new Map<string, number>();
  const before = residentMebibytes(world.process.pid);
  await world.attack(async () => {
    const send = await stranger(world);
    await repeat(600, async (index) => {
      const sensors = index % 2 === 0 ? 100 : 10;
      // A user may have a hundred on a sensor.
      const devices = names(1_000, `d${(index >> 1) % 4}-`);
      const condition = { devices, sensors: names(sensors) };
      const { status } = await send('POST', '/notifications', { condition, action });
      const key = `${sensors} sensors: ${status}`;
      statuses.set(key, (statuses.get(key) ?? 0) + 1);
    });
  });
  const told = JSON.stringify([...statuses]);
  assert.equal(statuses.get('100 sensors: 400'), 300, `too many pairs were taken: ${told}`);
  assert.ok((statuses.get('10 sensors: 403') ?? 0) > 0, `all had room: ${told}`);
  const grown = residentMebibytes(world.process.pid) - before;
  assert.ok(grown < 300, `they take ${grown} MiB`);
  await world.restart('SIGKILL');
});

test('previews side by side are few, and hold little', async () => {
  await using world = await startNeighbourhood();
  const send = await stranger(world);
  const sensors = names(20).map((id) => ({ id }));
  assert.equal((await send('POST', '/devices', { id: 'eve-d', sensors })).status, 204);
  const from = Date.parse('2026-01-01T00:00:00Z');
  const text = 'x'.repeat(100);
  for (const id of names(20)) {
    const values = Array.from({ length: 10_000 }, (_, index) => ({
      value: `${text}${index}`,
      timestamp: new Date(from + index * 1_000).toISOString(),
    }));
    const pushed = await send('POST', `/devices/eve-d/sensors/${id}/values`, values);
    assert.equal(pushed.status, 204, pushed.text);
  }
  const answers: number[] = [];
  await world.attack(async () => {
    const condition = { devices: ['eve-d'], sensors: names(20) };
    const draft = { from: new Date(from).toISOString(), notification: { condition, action } };
    await repeat(24, async () => {
      const { status } = await send('POST', '/notifications/preview', draft);
      answers.push(status);
    });
  });
  assert.ok(answers.includes(200), `${answers}`);
  assert.ok(answers.includes(429), `none was refused: ${answers}`);
});

/** How long a silence of an honest rule is told after it is due, in milliseconds. */
async function silenceTold(send: Send): Promise<number> {
  const condition = { devices: ['ama-d'], expression: 'silent(TC1, 1s)' };
  const made = await send('POST', '/notifications', { condition, action });
  assert.equal(made.status, 200, `her rule was refused: ${made.text}`);
  const dueAt = Date.now() + 1_000;
  for (;;) {
    const { json } = await send('GET', `/notifications/${made.text}/why`);
    const [last] = json as readonly { readonly outcome: string }[];
    if (last?.outcome === 'sent') break;
    assert.ok(Date.now() < dueAt + 15_000, `her silence was never told: ${JSON.stringify(last)}`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  assert.equal((await send('DELETE', `/notifications/${made.text}`)).status, 204);
  return Date.now() - dueAt;
}

test('five accounts that wait for every silence keep nobody from waiting for one', async () => {
  await using world = await startNeighbourhood();
  const statuses = new Map<number, number>();
  await world.attack(async () => {
    const sensors = names(1_000).map((id) => ({ id }));
    for (const name of ['eve1', 'eve2', 'eve3', 'eve4', 'eve5']) {
      const send = await stranger(world, name);
      assert.equal((await send('POST', '/devices', { id: name, sensors })).status, 204);
      await repeat(330, async (index) => {
        const tests = names(64).map((_, at) => `silent(n${(index * 64 + at) % 1_000}, 12s)`);
        const condition = { devices: [name], expression: tests.join('; ') };
        const { status } = await send('POST', '/notifications', { condition, action });
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
      });
    }
    // What is left of the total.
    const last = await stranger(world, 'eve6');
    assert.equal((await last('POST', '/devices', { id: 'eve6', sensors })).status, 204);
    await repeat(200, (index) => {
      const condition = { devices: ['eve6'], expression: `silent(n${index}, 12s)` };
      return last('POST', '/notifications', { condition, action });
    });
    const send = await stranger(world, 'ama');
    const device = { id: 'ama-d', sensors: [{ id: 'TC1' }] };
    assert.equal((await send('POST', '/devices', device)).status, 204);
    // While those of the others become due.
    for (let round = 0; round < 8; round += 1) {
      const ms = await silenceTold(send);
      assert.ok(ms < servedMsMax, `her silence was told after ${ms} ms`);
    }
  });
  assert.ok((statuses.get(403) ?? 0) > 0, `all had room: ${JSON.stringify([...statuses])}`);
});
