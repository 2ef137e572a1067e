import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hoursOfWeek, runsOf, weekHours, weekStart } from './heard-hours.ts';

const hour = 3_600_000;
const now = Date.UTC(2026, 2, 8, 12, 30);
const start = weekStart(now);

test('the week ends with the current hour', () => {
  assert.equal(start + weekHours * hour, Date.UTC(2026, 2, 8, 13));
});

test('what reports every other hour is never silent', () => {
  const heardAt = Array.from({ length: 84 }, (_, index) => start + index * 2 * hour);
  assert.deepEqual(runsOf(hoursOfWeek(heardAt, { now, since: 0 })), [
    { state: 'heard', start: 0, length: weekHours },
  ]);
});

test('silence begins when patience ends, and ends with the first word', () => {
  const runs = runsOf(hoursOfWeek([start, start + 20 * hour], { now, since: 0 }));
  assert.deepEqual(
    runs.map(({ state, start: at }) => [state, at]),
    [
      ['heard', 0],
      ['silent', 3],
      ['heard', 20],
      ['silent', 23],
    ],
  );
});

test('the hours before it was there are not silence', () => {
  const runs = runsOf(hoursOfWeek([start + 10 * hour], { now, since: start + 10 * hour }));
  assert.deepEqual(runs[0], { state: 'notYet', start: 0, length: 10 });
});

test('what was added this hour is given a while to say something', () => {
  const runs = runsOf(hoursOfWeek([], { now, since: now }));
  assert.deepEqual(runs, [{ state: 'notYet', start: 0, length: weekHours }]);
});

test('a week of nothing is silent, and what is outside of the week does not count', () => {
  const runs = runsOf(hoursOfWeek([start - hour, now + 5 * hour], { now, since: 0 }));
  assert.deepEqual(runs, [{ state: 'silent', start: 0, length: weekHours }]);
});
