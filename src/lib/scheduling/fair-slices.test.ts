import assert from 'node:assert/strict';
import test from 'node:test';
import { createFairSlices, createGuestSlices, type Pace } from './fair-slices.ts';

/** Takes this many slices, writing its name down each time. */
async function work(name: string, pace: Pace, turns: number, seen: string[]): Promise<void> {
  for (let turn = 0; turn < turns; turn += 1) {
    await pace.rest();
    seen.push(name);
  }
}

test('each payer has as many turns as the others, however much work it brings', async () => {
  const turns = createFairSlices({ turnMs: 5 });
  const seen: string[] = [];
  const greedy = Array.from({ length: 20 }, () => work('greedy', turns.paceOf('a'), 10, seen));
  const modest = work('modest', turns.paceOf('b'), 10, seen);
  assert.equal(turns.waiting, 21);
  await modest;
  const before = seen.filter((name) => name === 'greedy').length;
  assert.ok(before <= 11, `${before} turns of the greedy one came first`);
  await Promise.all(greedy);
  assert.equal(seen.length, 210);
  assert.equal(turns.waiting, 0);
});

/** How often other work runs until so many pieces of this length are done. */
async function looksWhile(pieces: number, busyMs: number): Promise<number> {
  const turns = createFairSlices({ turnMs: 5 });
  let left = pieces;
  const piece = async (payer: string): Promise<void> => {
    await turns.paceOf(payer).rest();
    const end = performance.now() + busyMs;
    while (performance.now() < end);
    left -= 1;
  };
  const all = Array.from({ length: pieces }, (_, at) => piece(`${at}`));
  let looks = 0;
  for (; left > 0; looks += 1) await new Promise((resolve) => setImmediate(resolve));
  await Promise.all(all);
  return looks;
}

test('one long piece of work runs between two looks at the sockets', async () => {
  const looks = await looksWhile(10, 6);
  assert.ok(looks >= 10, `${looks} looks`);
});

test('short pieces of work share a turn, as a look for each costs more', async () => {
  const looks = await looksWhile(500, 0);
  assert.ok(looks < 100, `${looks} looks`);
});

test('work beyond its limit is refused at the next rest, and waiting is no work', async () => {
  const turns = createFairSlices({ turnMs: 1 });
  const limit = { workMsMax: 20, onTooMuch: () => new RangeError('too much') };
  const pace = turns.paceOf('a', limit);
  const used = () => process.threadCpuUsage().user + process.threadCpuUsage().system;
  // By both clocks: that of the processor may move in steps of some milliseconds.
  const busy = (ms: number) => {
    const end = performance.now() + ms;
    const usedEnd = used() + ms * 1_000;
    while (used() < usedEnd || performance.now() < end);
  };
  busy(2);
  assert.ok(pace.isOver());
  await pace.rest();
  busy(30);
  pace.begin();
  await pace.rest();
  busy(30);
  await assert.rejects(pace.rest(), RangeError);
});

test('what comes at once begins until a few turns are over, then in turn by payer', async () => {
  const turns = createFairSlices({ turnMs: 1 });
  const seen: string[] = [];
  const begin = (payer: string): Promise<void> | undefined => {
    const turn = turns.enter(payer);
    if (turn === undefined) seen.push(payer);
    return turn?.then(() => {
      seen.push(payer);
    });
  };
  assert.equal(begin('a'), undefined);
  const end = performance.now() + 10;
  while (performance.now() < end);
  const waiting = [begin('a'), begin('a'), begin('a'), begin('b')];
  assert.equal(turns.waiting, 4);
  await Promise.all(waiting);
  assert.deepEqual(seen, ['a', 'a', 'b', 'a', 'a']);
});

test('what is added for a payer while a piece of its work is done has a slice too', async () => {
  const slices = createFairSlices({ turnMs: 5 });
  const done: string[] = [];
  const add = (payer: string, item: string): void =>
    void slices.next(payer).then(() => {
      done.push(item);
      // As connections do that wait again while they are read from.
      if (item !== 'other' && done.length <= 4) add(payer, item);
    });
  for (const item of ['a', 'b', 'c']) add('ann', item);
  add('ben', 'other');
  for (let count = 0; count < 5; count += 1) await new Promise((resolve) => setImmediate(resolve));
  const again = done.filter((item) => item !== 'other').length;
  assert.deepEqual([new Set(done).size, again, done.length - again], [4, 6, 1]);
});

test('however many guests ask, two turns of the event loop are without any of them', async () => {
  const slices = createGuestSlices(0.25);
  let [begun, turns] = [0, 0];
  const all = 20;
  const handle = (): void => {
    begun += 1;
    const end = performance.now() + 1;
    while (performance.now() < end);
  };
  for (let guest = 0; guest < all; guest += 1) {
    const slice = slices.enter(`guest ${guest}`);
    if (slice === undefined) handle();
    else void slice.then(handle);
  }
  assert.ok(begun <= 2, `${begun} at once`);
  for (; begun < all && turns < 1_000; turns += 1) {
    await new Promise((resolve) => setImmediate(resolve));
  }
  assert.equal(begun, all);
  assert.ok(turns >= 3 * (all - 2), `${turns} turns`);
});

test('guests who ask one after the other get no more slices, nor longer ones', async (t) => {
  let now = performance.now();
  t.mock.method(performance, 'now', () => now);
  const slices = createGuestSlices(0.25);
  let [begun, most, working] = [0, 0, 0];
  const handle = (): void => {
    begun += 1;
    now += 0.1;
  };
  const ask = (guest: string): void => {
    const slice = slices.enter(guest);
    if (slice === undefined) handle();
    else void slice.then(handle);
  };
  for (let guest = 0; guest < 200; guest += 1) ask(`waiting ${guest}`);
  const turns = 60;
  for (let turn = 0; turn < turns; turn += 1) {
    const before = begun;
    ask(`new ${turn}`);
    await new Promise((resolve) => setImmediate(resolve));
    now += 0.01;
    if (turn === 0) continue;
    most = Math.max(most, begun - before);
    if (begun > before) working += 1;
  }
  assert.ok(most <= 3, `${most} in a slice`);
  assert.ok(working <= turns / 3 + 1, `${working} turns`);
});

test('no work begins in a turn of the event loop that other work has used up', async (t) => {
  let now = performance.now();
  t.mock.method(performance, 'now', () => now);
  const [ones, others] = [createFairSlices({ turnMs: 5 }), createFairSlices({ turnMs: 5 })];
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(ones.enter('a'), undefined);
  now += 9;
  const seen: string[] = [];
  others.begin('b', () => seen.push('b'));
  others.begin('c', () => seen.push('c'));
  const waiting = ones.enter('d');
  assert.ok(waiting !== undefined);
  assert.deepEqual(seen, []);
  await waiting;
  await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual(seen, ['b', 'c']);
  assert.equal(others.enter('e'), undefined);
});

test('in a turn that others have used up one short piece of waiting work runs', async (t) => {
  let now = performance.now();
  t.mock.method(performance, 'now', () => now);
  const [slices, others] = [createFairSlices({ turnMs: 5 }), createFairSlices({ turnMs: 5 })];
  // Nothing of a test before this one comes first.
  for (let turn = 0; turn < 3; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  let [done, doneBefore, most] = [0, 0, 0];
  const pieces = 40;
  const finished = new Promise<void>((resolve) => {
    // Others have each turn first.
    const beFirst = (): void => {
      most = Math.max(most, done - doneBefore);
      doneBefore = done;
      others.isTurnOver();
      now += 8;
      if (done < pieces) setImmediate(beFirst);
      else resolve();
    };
    setImmediate(beFirst);
  });
  for (let at = 0; at < pieces; at += 1) {
    slices.run(`p${at}`, () => {
      now += 1;
      done += 1;
      return false;
    });
  }
  await finished;
  assert.deepEqual([done, most], [pieces, 1]);
});

/** How much of the time the slices take that ask for the next one at once, while others work. */
async function shareOf(isBusy: boolean): Promise<number> {
  const turns = createFairSlices({ turnMs: 5, restsWhile: () => isBusy });
  const startedAt = performance.now();
  let workedMs = 0;
  while (performance.now() - startedAt < 200) {
    await turns.enter('a');
    const end = performance.now() + 2;
    while (performance.now() < end);
    workedMs += 2;
    await new Promise((resolve) => setImmediate(resolve));
  }
  return workedMs / (performance.now() - startedAt);
}

test('slices leave most of the time to others who are at work, and to nobody else', async () => {
  const beside = await shareOf(true);
  assert.ok(beside < 0.5, `${beside} of the time beside others`);
  const alone = await shareOf(false);
  assert.ok(alone > beside, `${alone} of the time alone`);
});

test('short slices rest seldom, as no timer is as short as they are', async () => {
  const turns = createFairSlices({ turnMs: 5, restsWhile: () => true });
  let rests = 0;
  for (let piece = 0; piece < 40; piece += 1) {
    const turn = turns.enter('a');
    if (turn !== undefined) rests += 1;
    await turn;
    const end = performance.now() + 0.1;
    while (performance.now() < end);
    await new Promise((resolve) => setImmediate(resolve));
  }
  assert.ok(rests < 15, `${rests} rests in 40 slices`);
});
