import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createHostQueues, createNetworkShares, hostOf } from './dispatcher.ts';

/** Queues with tasks that end when the test says, and what began of them. */
function setUp(options: { underWayMax?: number; waitingMax?: number; waitMs?: number } = {}) {
  const began: string[] = [];
  const ends = new Map<string, () => void>();
  let waits = 0;
  const turns = createHostQueues({
    ...{ underWayMax: 2, waitingMax: 10, waitMs: 60_000, ...options },
    onWait: () => {
      waits += 1;
    },
  });
  const go = (host: string, payer: string, name: string) =>
    turns.run({ host, payer }, async () => {
      began.push(name);
      await new Promise<void>((resolve) => ends.set(name, resolve));
      return name;
    });
  return {
    ...{ turns, began, go },
    waits: () => waits,
    async end(name: string) {
      ends.get(name)?.();
      await new Promise((resolve) => setImmediate(resolve));
    },
  };
}

test('one host has so many at a time, and others go on beside it', async () => {
  const setup = setUp();
  const all = ['1', '2', '3'].map((name) => setup.go('dead', 'eve', name));
  all.push(setup.go('alive', 'ama', '4'));
  assert.deepEqual(setup.began, ['1', '2', '4']);
  assert.deepEqual([setup.turns.waiting(), setup.waits()], [1, 1]);
  await setup.end('2');
  assert.deepEqual(setup.began, ['1', '2', '4', '3']);
  assert.equal(setup.turns.waiting(), 0);
  for (const name of ['1', '3', '4']) await setup.end(name);
  assert.deepEqual(await Promise.all(all), ['1', '2', '3', '4']);
});

test('places of a host go to the payers in turn', async () => {
  const setup = setUp({ underWayMax: 1 });
  const tasks = [['eve', 'first'], ...['e1', 'e2', 'e3'].map((name) => ['eve', name])];
  tasks.push(['bob', 'b1'], ['ama', 'a1'], ['bob', 'b2']);
  const all = tasks.map(([payer = '', name = '']) => setup.go('h', payer, name));
  for (let turn = 0; turn < all.length; turn += 1) await setup.end(setup.began.at(-1) ?? '');
  assert.deepEqual(setup.began, ['first', 'e1', 'b1', 'a1', 'e2', 'b2', 'e3']);
  await Promise.all(all);
});

test('who waits too long, or comes when too many wait, is told to come back', async () => {
  const setup = setUp({ underWayMax: 1, waitingMax: 1, waitMs: 1 });
  const first = setup.go('h', 'eve', 'first');
  const late = setup.go('h', 'eve', 'late');
  assert.equal(await setup.go('h', 'ama', 'over'), 'busy');
  assert.equal(await late, 'busy');
  assert.equal(setup.turns.waiting(), 0);
  await setup.end('first');
  assert.equal(await first, 'first');
  const next = setup.go('h', 'ama', 'next');
  assert.deepEqual(setup.began, ['first', 'next']);
  await setup.end('next');
  await next;
});

test('at the end nobody waits any more', async () => {
  const setup = setUp({ underWayMax: 1 });
  const first = setup.go('h', 'eve', 'first');
  const second = setup.go('h', 'eve', 'second');
  setup.turns.close();
  assert.equal(await second, 'busy');
  assert.equal(await setup.go('h', 'eve', 'third'), 'busy');
  await setup.end('first');
  assert.equal(await first, 'first');
  assert.deepEqual(setup.began, ['first']);
});

test('a host has one spelling', () => {
  assert.equal(hostOf('https://X.org./a'), hostOf('https://x.org:443/b?c'));
  assert.notEqual(hostOf('https://x.org:8443/'), hostOf('https://x.org/'));
  assert.equal(hostOf('http://0x7f.1/'), hostOf('http://127.0.0.1/'));
  for (const nowhere of [undefined, '', 'no url', 'mailto:a']) {
    assert.equal(hostOf(nowhere), undefined);
  }
});

test('one network has so many at a time under whatever names, and others go on', async () => {
  const shares = createNetworkShares(2);
  const ends: (() => void)[] = [];
  const work = () => new Promise<string>((resolve) => ends.push(() => resolve('done')));
  const dead = [shares.run('203.0.113.7', work), shares.run('203.0.113.7', work)];
  assert.equal(await shares.run('203.0.113.7', work), 'busy');
  assert.equal(await shares.run('203.0.113.8', async () => 'done'), 'done');
  assert.equal(await shares.run(undefined, async () => 'done'), 'done');
  for (const end of ends) end();
  assert.deepEqual(await Promise.all(dead), ['done', 'done']);
  assert.equal(await shares.run('203.0.113.7', async () => 'done'), 'done');
});
