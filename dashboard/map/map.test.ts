import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { GeoJsonObject, Polygon } from 'geojson';
import { boundsOf, cellPx, clustersOf, type Placed, project } from './clusters.ts';
import { parseCoordinate, roundCoordinate, wrapLongitude } from './coordinates.ts';
import { wholeRing, wholeRings } from './whole-rings.ts';

const places = fc.array(
  fc.record({
    id: fc.uuid(),
    latitude: fc.double({ min: -90, max: 90, noNaN: true }),
    longitude: fc.double({ min: -180, max: 180, noNaN: true }),
  }),
  { maxLength: 80 },
);

test('every place is in exactly one cluster', () => {
  fc.assert(
    fc.property(places, fc.integer({ min: 0, max: 18 }), (items, zoom) => {
      const clustered = clustersOf(items, zoom).flatMap((cluster) => cluster.items);
      assert.equal(clustered.length, items.length);
      assert.deepEqual(new Set(clustered), new Set(items));
    }),
  );
});

test('places near each other are one marker, far from each other or closer in they are two', () => {
  const accra: Placed = { id: 'a', latitude: 5.61, longitude: -0.2 };
  const tema: Placed = { id: 't', latitude: 5.67, longitude: 0 };
  const dakar: Placed = { id: 'd', latitude: 14.7, longitude: -17.4 };
  assert.deepEqual(
    clustersOf([accra, tema, dakar], 5).map(({ items }) => items.map(({ id }) => id)),
    [['a', 't'], ['d']],
  );
  assert.equal(clustersOf([accra, tema, dakar], 12).length, 3);
});

test('the first places of two clusters are never closer than a cell', () => {
  fc.assert(
    fc.property(places, (items) => {
      const firsts = clustersOf(items, 3).flatMap((cluster) => cluster.items.slice(0, 1));
      firsts.forEach((one, index) => {
        for (const other of firsts.slice(index + 1)) {
          const [a, b] = [project(one, 3), project(other, 3)];
          assert.ok(Math.hypot(a.x - b.x, a.y - b.y) >= cellPx);
        }
      });
    }),
  );
});

test('five thousand places are clustered in a blink', () => {
  const items = Array.from({ length: 5_000 }, (_, index) => ({
    id: `${index}`,
    latitude: ((index * 7) % 120) - 60,
    longitude: ((index * 13) % 360) - 180,
  }));
  const clusters = clustersOf(items, 2);
  assert.ok(clusters.length < 400);
});

test('the bounds hold all places', () => {
  assert.equal(boundsOf([]), undefined);
  assert.deepEqual(
    boundsOf([
      { id: 'a', latitude: 1, longitude: 2 },
      { id: 'b', latitude: -3, longitude: 9 },
    ]),
    [
      [-3, 2],
      [1, 9],
    ],
  );
});

test('coordinates are read as people type them', () => {
  const read: readonly (readonly [text: string, max: 90 | 180, value: number | undefined])[] = [
    ['5.614', 90, 5.614],
    ['5,614', 90, 5.614],
    [' -0.2 ', 180, -0.2],
    ['0.2 W', 180, -0.2],
    ['0,2° O', 180, -0.2],
    ['3.4° S', 90, -3.4],
    ['36.8E', 180, 36.8],
    ['5.6 E', 90, undefined],
    ['5.6 N', 180, undefined],
    ['91', 90, undefined],
    ['181', 180, undefined],
    ['', 90, undefined],
    ['north', 90, undefined],
    ['1e1', 90, undefined],
  ];
  for (const [text, max, value] of read) assert.equal(parseCoordinate(text, max), value, text);
});

test('longitudes beyond the edge come back, and decimals have an end', () => {
  assert.equal(wrapLongitude(190), -170);
  assert.equal(wrapLongitude(-190), 170);
  assert.equal(wrapLongitude(12.5), 12.5);
  assert.equal(roundCoordinate(5.123456789), 5.123457);
});

test('a coast that crosses the date line is drawn in one piece, at both edges', () => {
  const fiji = [
    [179, -16],
    [-179, -16],
    [-179, -17],
    [179, -17],
    [179, -16],
  ];
  assert.deepEqual(
    wholeRing(fiji).map(([longitude]) => longitude),
    [179, 181, 181, 179, 179],
  );
  const geometry = {
    type: 'MultiPolygon',
    coordinates: [
      [fiji],
      [
        [
          [10, 1],
          [11, 1],
          [10, 1],
        ],
      ],
    ],
  };
  const pieces = wholeRings({ type: 'Feature', geometry } as GeoJsonObject);
  const wests = pieces.map((piece) => (piece as Polygon).coordinates[0]?.[0]?.[0]);
  assert.deepEqual(wests, [179, -181, 10]);
});
