import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import fc from 'fast-check';
import type { GeoJsonObject, Polygon } from 'geojson';
import { boundsOf, cellPx, clustersOf, type Placed, project } from './clusters.ts';
import { parseCoordinate, roundCoordinate, wrapLongitude } from './coordinates.ts';
import { wholeRing, wholeRings } from './whole-rings.ts';
import { namesAt, namingIn, readWorldPlaces, searchPlaces } from './world-names.ts';

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

const world = readWorldPlaces(readFileSync(new URL('./world-places.txt', import.meta.url), 'utf8'));
const inEnglish = namingIn('en', (name) => `Lake ${name}`);

test('the world has its countries, lakes and towns, each at its place', () => {
  const at = (name: string) => {
    const [found] = searchPlaces(world.names, name, { naming: inEnglish, max: 1 });
    const degrees = [found?.latitude ?? 0, found?.longitude ?? 0].map(Math.round);
    return [found?.kind, ...degrees].join(' ');
  };
  assert.equal(at('Accra'), 'town 6 0');
  assert.equal(at('São Paulo'), 'town -24 -47');
  assert.equal(at('Ghana'), 'country 7 -1');
  assert.equal(at('Lake Victoria'), 'lake -1 33');
  assert.equal(at('Lake Tanganyika'), 'lake -6 30');
  assert.ok(world.names.filter(({ kind }) => kind === 'town').length > 7_000);
  for (const { name, latitude, longitude, rank, kind, region = '' } of world.names) {
    assert.ok(kind === 'town' ? /^[A-Z]{2}$/.test(region) : region === '', `${name} in ${region}`);
    assert.ok(name !== '' && Math.abs(latitude) <= 90 && Math.abs(longitude) <= 180, name);
    assert.ok(rank >= 0 && rank <= 5, name);
  }
});

test('what a phone loads for names stays within what was promised', () => {
  const bytes = readFileSync(new URL('./world-places.txt', import.meta.url)).length;
  assert.ok(bytes <= 150_000, `${bytes} bytes`);
});

test('countries and lakes are called as people call them in their language', () => {
  const names = (language: string, lake: string) => {
    const naming = namingIn(language, (name) => `${lake} ${name}`);
    return world.names
      .filter(({ name, kind }) => name === 'TZ' || (kind === 'lake' && name === 'Chad'))
      .map(naming);
  };
  assert.deepEqual(names('fr', 'Lac'), ['Tanzanie', 'Lac Tchad']);
  assert.deepEqual(names('sw', 'Ziwa'), ['Tanzania', 'Ziwa Chad']);
  assert.deepEqual(names('pt', 'Lago'), ['Tanzânia', 'Lago Chade']);
});

test('a place is found without its accents, by any of its words, the whole name first', () => {
  const search = (text: string) =>
    searchPlaces(world.names, text, { naming: inEnglish, max: 3 }).map(inEnglish);
  assert.equal(search('cape co')[0], 'Cape Coast');
  assert.equal(search('lome')[0], 'Lomé');
  assert.equal(search('victoria')[0], 'Victoria');
  assert.ok(search('tanganyika').includes('Lake Tanganyika'));
  assert.deepEqual(search('  '), []);
  assert.deepEqual(search('zzzz'), []);
});

test('the closer one looks, the more is named, and countries step back', () => {
  const count = (zoom: number, kind: string) =>
    namesAt(world.names, zoom).filter((place) => place.kind === kind).length;
  for (let zoom = 3; zoom < 8; zoom += 1) {
    assert.ok(count(zoom + 1, 'town') > count(zoom, 'town'), `zoom ${zoom}`);
  }
  assert.equal(count(1, 'country'), 0);
  assert.ok(count(5, 'country') > 100);
  assert.equal(count(11, 'country'), 0);
});
