import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Device } from '../../api/types.ts';
import { isWithin, places, placesFor } from '../../shell/places.ts';
import { trendPath } from './trend-path.ts';
import { byTrouble } from './trouble.ts';
import { isNarrowed, readView, viewPath } from './view.ts';

test('a view is in its address and comes back from it', () => {
  const filters = { whose: 'all', text: 'a & b', visibility: 'private' } as const;
  const view = { ...filters, look: 'lines', pages: 3 } as const;
  const { search, pathname } = new URL(viewPath(view), 'http://localhost');
  assert.equal(pathname, '/');
  assert.deepEqual(readView(Object.fromEntries(new URLSearchParams(search))), view);
});

test('one asks for the own devices unless the address says otherwise', () => {
  assert.deepEqual(readView({}), { whose: 'mine' });
  assert.deepEqual(
    readView({ whose: 'everything', visibility: 'odd', text: '', look: 'odd', pages: '1' }),
    {
      whose: 'mine',
    },
  );
  assert.equal(viewPath({ whose: 'mine' }), '/');
});

test('trouble is sorted: alerts, then the longest silence, then names as people sort them', () => {
  const aDevice = (id: string, at?: string): Device => ({
    ...{ id, owner: 'ama', actuators: [], date_created: '', date_modified: '' },
    sensors: [{ id: 'S', ...(at !== undefined && { last_value: { value: 1, timestamp: at } }) }],
  });
  const devices = [
    aDevice('n10', '2026-01-02T00:00:00Z'),
    aDevice('n2', '2026-01-02T00:00:00Z'),
    aDevice('long', '2026-01-01T00:00:00Z'),
    aDevice('alert', '2026-01-03T00:00:00Z'),
  ];
  const sorted = byTrouble(devices, new Map([['alert', 'too dry']]));
  assert.deepEqual(
    sorted.map(({ id }) => id),
    ['alert', 'long', 'n2', 'n10'],
  );
});

test('whose devices it is narrows nothing', () => {
  assert.equal(isNarrowed({ whose: 'shared' }), false);
  assert.equal(isNarrowed({ whose: 'mine', domain: 'water' }), true);
});

const room = { from: 0, to: 100, width: 100, height: 24, gapMs: 20 };

test('a trend line runs from low at the foot to high at the top', () => {
  const points = [
    { at: 0, value: 5 },
    { at: 10, value: 10 },
  ];
  assert.equal(trendPath(points, room), 'M0 22L10 2');
});

test('a trend line is broken where nothing was heard, and flat in the middle', () => {
  const points = [0, 10, 60, 70].map((at) => ({ at, value: 7 }));
  assert.equal(trendPath(points, room), 'M0 12L10 12M60 12L70 12');
  assert.equal(trendPath([], room), '');
});

test('guests, users and admins see the places that are for them', () => {
  const paths = (who: { isUser: boolean; isAdmin: boolean }) =>
    placesFor(who).map(({ path }) => path);
  assert.deepEqual(paths({ isUser: false, isAdmin: false }), ['/', '/map', '/more']);
  assert.ok(!paths({ isUser: true, isAdmin: false }).includes('/users'));
  assert.equal(paths({ isUser: true, isAdmin: true }).length, places.length);
});

test('a screen belongs to the place it was reached from', () => {
  const [home] = places;
  assert.ok(home !== undefined && isWithin(home, '/devices/pond/share'));
  assert.ok(home !== undefined && !isWithin(home, '/map'));
});
