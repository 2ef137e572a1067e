import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import {
  type Cell,
  close,
  expectedOf,
  faultsOf,
  gotBy,
  keyOf,
  openCells,
  reconnect,
  type SentAt,
  until,
  untilLast,
} from './leak-cells.ts';
import { type Moment, mayGet } from './leak-oracle.ts';
import { createLeakWorld, type LeakWorld, type Sent } from './leak-world.ts';

const none = { hidden: [], shown: [], revoked: [] };
const owned = ['landlady-public', 'landlady-private', 'landlady-absent'];
const hidden = ['landlady-public', 'landlady-absent', 'gw-public'];

/** One after the other, while everybody stays subscribed. */
const moments: readonly Moment[] = [
  { ...none, name: 'as it was made' },
  { ...none, name: 'made private', hidden },
  { ...none, name: 'grants revoked', hidden, revoked: [...owned, 'gw-private', 'gw-public'] },
  { ...none, name: 'made public', shown: owned, revoked: [...owned, 'gw-private', 'gw-public'] },
];

const liveStyles = ['exact', 'plus', 'hash', 'overlapping', 'shared'];

let world: LeakWorld;

beforeEach(async () => {
  world = await createLeakWorld();
});

afterEach(() => world[Symbol.asyncDispose]());

test('nobody gets a message that the rights of the moment do not give', async () => {
  const live = await openCells(world, 'live', liveStyles);
  const away = new Map<Moment, readonly Cell[]>();
  for (const moment of moments) {
    const cells = await openCells(
      world,
      `away until ${moment.name}`,
      ['exact', 'overlapping'],
      true,
    );
    await close(cells);
    away.set(moment, cells);
  }
  const sentLive: SentAt[] = [];
  const faults: string[] = [];
  for (const moment of moments) {
    await world.enter(moment);
    const wave = [...(await world.wave(['http', 'mqtt', 'will'])), ...(await world.sentinels())];
    sentLive.push(...wave.map((one) => ({ ...one, moments: [moment] })));
    await Promise.all(live.map((cell) => untilLast(cell, expectedOf(cell, sentLive))));
    const back = away.get(moment) ?? [];
    for (const cell of back) cell.client = await reconnect(world, cell, true);
    // Queued with the right of then, handed over with the right of now.
    const kept = sentLive
      .filter(({ isKept }) => isKept)
      .map((one) => ({ ...one, moments: [...one.moments, moment] }));
    for (const cell of back) {
      const expected = expectedOf(cell, kept);
      await untilLast(cell, expected);
      faults.push(...faultsOf(cell, expected));
    }
    await close(back);
  }
  // Looked at when all is over: what leaks late is seen as well.
  for (const cell of live) faults.push(...faultsOf(cell, expectedOf(cell, sentLive)));
  await close(live);
  assert.ok(sentLive.length > 200, `only ${sentLive.length} messages were sent`);
  assert.deepEqual(faults.slice(0, 20), [], `${faults.length} faults`);
});

test('retained messages come to those who may see them when they subscribe', async () => {
  const retained = await world.wave(['retained']);
  // Only the last message of a topic is kept, and never as an array.
  const kept = retained.filter(({ kind }) => kind !== 'values');
  const all: { readonly cell: Cell; readonly expected: readonly string[] }[] = [];
  for (const moment of moments) {
    await world.enter(moment);
    const sent = kept.map((one) => ({ ...one, moments: [moment] }));
    const cells = await openCells(world, moment.name, ['exact', 'plus', 'hash', 'overlapping']);
    for (const cell of cells) {
      const expected = expectedOf(cell, sent);
      await until([cell], () => isSubset(expected, gotBy(cell.client)));
      await askOnceMore(cell, sent);
      assert.ok(cell.client.mqtt.connected);
      all.push({ cell, expected });
    }
  }
  const faults = all.flatMap(({ cell, expected }) =>
    // Each subscription brings what it includes: more than once where filters overlap.
    faultsOf(cell, expected).filter((fault) => !fault.endsWith('twice')),
  );
  await close(all.map(({ cell }) => cell));
  assert.deepEqual(faults.slice(0, 20), [], `${faults.length} faults`);
});

/** Subscribes to one of them alone: it comes after all that was asked for before. */
async function askOnceMore(cell: Cell, sent: readonly SentAt[]): Promise<void> {
  const one = sent.find(({ topic, mark }) => gotBy(cell.client).includes(keyOf({ topic, mark })));
  if (one === undefined) return;
  const before = cell.client.texts.length;
  await cell.client.subscribe(one.topic);
  await until([cell], () => gotBy(cell.client).slice(before).includes(keyOf(one)));
}

const isSubset = (some: readonly string[], all: readonly string[]): boolean =>
  new Set(some).isSubsetOf(new Set(all));

test('a group gets each message once for each account, by one who may have it', async () => {
  const cells = await openCells(world, 'group', ['group']);
  const faults: string[] = [];
  const accounts = [...Map.groupBy(cells, ({ receiver }) => receiver.username ?? 'guest').values()];
  const handed = () => cells.reduce((sum, { client }) => sum + client.texts.length, 0);
  const isForGroup = ({ kind }: Sent) => kind !== 'values';
  let count = 0;
  for (const moment of moments) {
    await world.enter(moment);
    const sent = (await world.wave(['http', 'mqtt', 'will'])).filter(isForGroup);
    const due = sent.flatMap((message) =>
      accounts.flatMap((members) => {
        const rightful = members.filter(({ receiver }) =>
          mayGet(receiver, message.kind, message.place, moment),
        );
        return rightful.length === 0 ? [] : [{ message, members, rightful }];
      }),
    );
    count += due.length;
    await until(cells, () => handed() >= count);
    for (const { message, members, rightful } of due) {
      const takers = members.filter(({ client }) => gotBy(client).includes(keyOf(message)));
      const names = takers.map(({ name }) => name).join(' and ');
      if (takers.length !== 1 || !takers.every((taker) => rightful.includes(taker))) {
        faults.push(`${moment.name}: ${names || 'nobody'} got ${keyOf(message)}`);
      }
    }
    if (handed() !== count) faults.push(`${moment.name}: ${handed()} were handed, ${count} due`);
  }
  await close(cells);
  assert.deepEqual(faults.slice(0, 20), [], `${faults.length} faults`);
});
