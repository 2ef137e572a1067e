import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { createManualClock } from '../../test/manual-clock.ts';
import { createSteadyClock, latestBelieved } from './clock.ts';
import { type Log, silentLog } from './log.ts';

const noon = Date.UTC(2027, 0, 15, 12);
const day = 86_400_000;

function setUp(start = noon) {
  const machine = createManualClock(start);
  const lines: string[] = [];
  const say = (_fields: unknown, line: string) => lines.push(line);
  const log: Log = { ...silentLog, error: say, warn: say, info: say };
  let elapsed = 0;
  const clock = createSteadyClock({ machine, log, elapsed: () => elapsed });
  /** Time passes for both. */
  const pass = (ms: number): void => {
    machine.advance(ms);
    elapsed += ms;
  };
  return { machine, clock, pass, lines };
}

test('the time is the machine’s, when that is not behind what was stored', () => {
  const { clock, pass, lines } = setUp();
  clock.keepFrom(noon - 1);
  assert.equal(clock.now(), noon);
  pass(5);
  assert.equal(clock.now(), noon + 5);
  assert.equal(clock.aheadMs(), 0);
  assert.deepEqual(lines, []);
});

test('while the machine is behind what was stored, time goes on from there', () => {
  const { machine, clock, pass, lines } = setUp();
  clock.keepFrom(noon + 3 * day);
  assert.equal(clock.now(), noon + 3 * day);
  pass(1_500);
  assert.equal(clock.now(), noon + 3 * day + 1_500);
  assert.equal(clock.aheadMs(), 3 * day);
  assert.match(lines.join(), /^the clock of this machine is behind/);
  machine.set(noon + 3 * day + 2_000);
  assert.equal(clock.now(), noon + 3 * day + 2_000);
  assert.equal(clock.aheadMs(), 0);
  assert.match(lines.at(-1) ?? '', /right again/);
  assert.equal(lines.length, 2);
});

test('a clock that is set back does not take the time back, and a moment is waited for', () => {
  const { machine, clock, pass, lines } = setUp();
  clock.now();
  machine.set(noon - 900);
  assert.equal(clock.now(), noon);
  pass(900);
  assert.equal(clock.now(), noon);
  assert.deepEqual(lines, []);
  machine.set(noon - day);
  assert.equal(clock.now(), noon);
  pass(10);
  machine.set(noon - 2 * day);
  assert.equal(clock.now(), noon + 10);
  assert.equal(lines.length, 1);
});

test('a time that a wrong clock told years ahead is not believed', () => {
  const { machine, clock, lines } = setUp();
  machine.set(Date.UTC(2036, 1, 7));
  clock.now();
  machine.set(noon + 1);
  assert.equal(clock.now(), noon + 1);
  assert.match(lines.join(), /years ahead/);
  assert.equal(latestBelieved(noon) > noon + 365 * day, true);
  // A board without a battery begins in 1970: what is stored knows better.
  assert.equal(latestBelieved(0) > Date.UTC(2050, 0, 1), true);
});

test('the clock of the database holds, whichever way the machine is wrong', () => {
  for (const wrong of [-3_600_000, 3_600_000]) {
    const { machine, clock, pass, lines } = setUp(noon + wrong);
    clock.follow(noon);
    assert.equal(clock.now(), noon);
    pass(1_000);
    clock.follow(noon + 1_010);
    assert.equal(clock.now(), noon + 1_000, 'a few milliseconds are the way of the answer');
    assert.match(lines.join(), /^the clock of this machine differs/);
    machine.set(noon + 2_000);
    clock.follow(noon + 2_000);
    assert.equal(clock.now(), noon + 2_000);
  }
});

test('whatever happens to the machine’s clock within a year, time never goes back', () => {
  const step = fc.tuple(fc.integer({ min: -180 * day, max: 180 * day }), fc.nat(10 * day));
  fc.assert(
    fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
      const { machine, clock, pass } = setUp();
      let before = clock.now();
      for (const [to, ms] of steps) {
        machine.set(noon + to);
        pass(ms);
        const now = clock.now();
        assert.ok(now >= before);
        assert.ok(now >= machine.now());
        before = now;
      }
    }),
  );
});
