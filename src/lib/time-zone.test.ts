import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { createLocalClock, zonesOfInterest } from '../../test/local-clock.ts';
import { findTimeZone, type TimeZone, utc } from './time-zone.ts';

const hour = 3_600_000;

function zoneOf(name: string): TimeZone {
  const zone = findTimeZone(name);
  assert.ok(zone !== undefined, name);
  return zone;
}

test('names are found as IANA spells them, in any case', () => {
  const noon = Date.parse('2024-01-15T12:00Z');
  for (const [name, hours] of [
    ['Europe/Paris', 1],
    ['europe/paris', 1],
    ['Africa/Dakar', 0],
    ['Asia/Kathmandu', 5.75],
    ['Asia/Katmandu', 5.75],
    ['America/New_York', -5],
  ] as const) {
    assert.equal(zoneOf(name).spanAt(noon).offset, hours * hour, name);
  }
  for (const name of ['UTC', 'utc']) assert.equal(findTimeZone(name), utc);
});

test('what is no zone is not found', () => {
  const names = ['', 'Paris', 'Europe/Atlantis', '../etc/passwd', 'GMT+25', 'x'.repeat(100_000)];
  for (const name of names) assert.equal(findTimeZone(name), undefined, name.slice(0, 20));
});

test('seconds of local mean time are part of the offset', () => {
  const zone = zoneOf('Africa/Monrovia');
  assert.equal(zone.spanAt(0).offset, -(44 * 60 + 30) * 1_000);
});

test('local time equals what Intl says field by field', () => {
  const instants = fc.oneof(
    fc.integer({ min: Date.parse('1850-01-01'), max: Date.parse('2060-01-01') }),
    fc
      .tuple(
        fc.constantFrom(...Object.values(zonesOfInterest).flat()),
        fc.integer({ min: -36 * hour, max: 36 * hour }),
      )
      .map(([change, ms]) => Date.parse(change) + ms),
  );
  for (const name of Object.keys(zonesOfInterest)) {
    const zone = zoneOf(name);
    const localTime = createLocalClock(name);
    fc.assert(
      fc.property(instants, (instant) => {
        const { from, to, offset } = zone.spanAt(instant);
        assert.ok(from <= instant && instant < to);
        const second = Math.floor(instant / 1_000) * 1_000;
        assert.equal(second + offset, localTime(second));
      }),
      { numRuns: 200 },
    );
  }
});

test('a span ends at the millisecond at which the clocks are changed', () => {
  for (const [name, changes] of Object.entries(zonesOfInterest)) {
    for (const change of changes.map((text) => Date.parse(text))) {
      const zone = zoneOf(name);
      const isChange = zone.spanAt(change - 1).offset !== zone.spanAt(change).offset;
      if (isChange) assert.equal(zone.spanAt(change - 1).to, change, name);
    }
  }
  const paris = zoneOf('Europe/Paris');
  assert.equal(paris.spanAt(Date.parse('2024-03-31T00:59:59.999Z')).offset, hour);
  assert.equal(paris.spanAt(Date.parse('2024-03-31T01:00:00.000Z')).offset, 2 * hour);
});

test('the first instant of a local time is found though clocks jump over it or repeat it', () => {
  const first = (name: string, localTime: string) =>
    new Date(zoneOf(name).firstAt(Date.parse(`${localTime}Z`))).toISOString().slice(0, 16);
  assert.equal(first('Europe/Paris', '2024-07-01T00:00'), '2024-06-30T22:00');
  assert.equal(first('Europe/Paris', '2024-03-31T02:30'), '2024-03-31T01:00');
  assert.equal(first('Europe/Paris', '2024-10-27T02:30'), '2024-10-27T00:30');
  assert.equal(first('Pacific/Apia', '2011-12-30T12:00'), '2011-12-30T10:00');
  assert.equal(first('America/Sao_Paulo', '2018-11-04T00:00'), '2018-11-04T03:00');
  assert.equal(first('Asia/Kathmandu', '2016-06-08T00:00'), '2016-06-07T18:15');
});

test('the years 0 to 9999 have local times', () => {
  for (const name of ['UTC', ...Object.keys(zonesOfInterest)]) {
    for (const text of ['0000-01-01T00:00:00Z', '9999-12-31T23:59:59Z']) {
      const instant = Date.parse(text);
      const zone = zoneOf(name);
      const first = zone.firstAt(instant + zone.spanAt(instant).offset);
      assert.equal(first, instant, `${name} ${text}`);
    }
  }
});
