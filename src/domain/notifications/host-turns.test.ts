import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createHostTurns, hostOf } from './host-turns.ts';

/** Turns with tasks that end when the test says, and what began of them. */
function aHouse(options: { underWayMax?: number; waitingMax?: number; waitMs?: number } = {}) {
  const began: string[] = [];
  const ends = new Map<string, () => void>();
  let waits = 0;
  const turns = createHostTurns({
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
  const house = aHouse();
  const all = ['1', '2', '3'].map((name) => house.go('dead', 'eve', name));
  all.push(house.go('alive', 'ama', '4'));
  assert.deepEqual(house.began, ['1', '2', '4']);
  assert.deepEqual([house.turns.waiting(), house.waits()], [1, 1]);
  await house.end('2');
  assert.deepEqual(house.began, ['1', '2', '4', '3']);
  assert.equal(house.turns.waiting(), 0);
  for (const name of ['1', '3', '4']) await house.end(name);
  assert.deepEqual(await Promise.all(all), ['1', '2', '3', '4']);
});

test('places of a host go to the payers in turn', async () => {
  const house = aHouse({ underWayMax: 1 });
  const tasks = [['eve', 'first'], ...['e1', 'e2', 'e3'].map((name) => ['eve', name])];
  tasks.push(['bob', 'b1'], ['ama', 'a1'], ['bob', 'b2']);
  const all = tasks.map(([payer = '', name = '']) => house.go('h', payer, name));
  for (let turn = 0; turn < all.length; turn += 1) await house.end(house.began.at(-1) ?? '');
  assert.deepEqual(house.began, ['first', 'e1', 'b1', 'a1', 'e2', 'b2', 'e3']);
  await Promise.all(all);
});

test('who waits too long, or comes when too many wait, is told to come back', async () => {
  const house = aHouse({ underWayMax: 1, waitingMax: 1, waitMs: 1 });
  const first = house.go('h', 'eve', 'first');
  const late = house.go('h', 'eve', 'late');
  assert.equal(await house.go('h', 'ama', 'over'), 'busy');
  assert.equal(await late, 'busy');
  assert.equal(house.turns.waiting(), 0);
  await house.end('first');
  assert.equal(await first, 'first');
  const next = house.go('h', 'ama', 'next');
  assert.deepEqual(house.began, ['first', 'next']);
  await house.end('next');
  await next;
});

test('at the end nobody waits any more', async () => {
  const house = aHouse({ underWayMax: 1 });
  const first = house.go('h', 'eve', 'first');
  const second = house.go('h', 'eve', 'second');
  house.turns.close();
  assert.equal(await second, 'busy');
  assert.equal(await house.go('h', 'eve', 'third'), 'busy');
  await house.end('first');
  assert.equal(await first, 'first');
  assert.deepEqual(house.began, ['first']);
});

test('a host has one spelling', () => {
  assert.equal(hostOf('https://X.org./a'), hostOf('https://x.org:443/b?c'));
  assert.notEqual(hostOf('https://x.org:8443/'), hostOf('https://x.org/'));
  assert.equal(hostOf('http://0x7f.1/'), hostOf('http://127.0.0.1/'));
  for (const nowhere of [undefined, '', 'no url', 'mailto:a']) {
    assert.equal(hostOf(nowhere), undefined);
  }
});
