import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DomainError } from '../domain/errors.ts';
import type { MemberStore } from '../domain/members/member-store.ts';
import { silentLog } from '../lib/log.ts';
import { openServiceClock } from './service-clock.ts';

/** Asked for its time again whenever the timers are run on. */
const askedAgainMs = 10_000;

test('the first time of a database counts, later ones if they say more', async (context) => {
  context.mock.timers.enable({ apis: ['setTimeout'] });
  let passed = 0;
  context.mock.method(performance, 'now', () => passed);
  const machineMs = 1_700_000_000_000;
  const aheadMs = 120_000;
  const answers: (() => number)[] = [];
  const members = {
    async now() {
      const answer = answers.shift();
      if (answer === undefined) {
        passed += 20_000;
        throw new DomainError('unavailable', 'the database is away');
      }
      return answer();
    },
  } as unknown as MemberStore;
  const after = (tookMs: number, theirs: number) => () => {
    passed += tookMs;
    return theirs;
  };
  const turn = () => new Promise((resolve) => setImmediate(resolve));
  const clock = await openServiceClock({
    machine: { now: () => machineMs },
    engine: { members, newestReceived: async () => undefined },
    log: silentLog,
  });
  assert.equal(clock.now(), machineMs, 'the database was away');
  answers.push(after(2_000, machineMs - aheadMs - 1_000));
  context.mock.timers.tick(1_000);
  await turn();
  assert.equal(clock.offsetMs(), -aheadMs);
  for (const [tookMs, sentMs, offsetMs] of [
    [2_000, 900, 0],
    [1_500, 500, 500],
    [100, 700, 700],
    [2_000, 1_500, 700],
    [2_000, 5_000, 5_000],
    [1, Number.NaN, 5_000],
  ] as const) {
    answers.push(after(tookMs, machineMs - aheadMs + sentMs - tookMs / 2));
    context.mock.timers.tick(askedAgainMs);
    await turn();
    assert.equal(clock.offsetMs(), offsetMs - aheadMs, `${tookMs} ms, ${sentMs} ms off`);
  }
  clock.keepFrom(Number.NaN);
  assert.ok(Number.isFinite(clock.now()));
  clock.stop();
});

test('a start waits for the time of a database that is away for a moment', async () => {
  const machineMs = 1_700_000_000_000;
  let asked = 0;
  const members = {
    async now() {
      asked += 1;
      if (asked < 3) throw new DomainError('unavailable', 'the database is away');
      return machineMs - 120_000;
    },
  } as unknown as MemberStore;
  const clock = await openServiceClock({
    machine: { now: () => machineMs },
    engine: { members, newestReceived: async () => undefined },
    log: silentLog,
  });
  assert.ok(Math.abs(clock.now() - machineMs + 120_000) < 60_000, `${clock.now() - machineMs} ms`);
  assert.equal(asked, 3);
  clock.stop();
});
