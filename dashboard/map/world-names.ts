/** Something that a map names, with a place for its name. */
export interface NamedPlace {
  readonly kind: 'country' | 'lake' | 'town';
  /** Of a country its two letters, else what it is called in English. */
  readonly name: string;
  /** What it is called in other languages, where that differs. */
  readonly other: ReadonlyMap<string, string>;
  /** The two letters of a town's country. */
  readonly region?: string;
  /** 0 is the most important. */
  readonly rank: number;
  readonly latitude: number;
  readonly longitude: number;
}

/** The shore of a lake, as longitudes and latitudes. */
export type Shore = readonly (readonly [longitude: number, latitude: number])[];

export interface WorldPlaces {
  readonly names: readonly NamedPlace[];
  readonly shores: readonly Shore[];
}

const pointLength = 6;
const none: ReadonlyMap<string, string> = new Map();

/**
 * Reads what scripts/cut-world-places.ts wrote: countries, lakes and towns, with an empty line
 * between them.
 */
export function readWorldPlaces(text: string): WorldPlaces {
  const [countries = '', lakes = '', towns = ''] = text.trim().split('\n\n');
  const lakeLines = lakes.split('\n').map((line) => line.split(';'));
  return {
    names: [
      ...countries.split(' ').map(readCountry),
      ...lakeLines.flatMap(([title = '', point = '']) => readLake(title, point)),
      ...towns.split('\n').flatMap(readTowns),
    ],
    shores: lakeLines.map(([, , points = '']) => readPoints(points)),
  };
}

function readCountry(text: string): NamedPlace {
  const place = { kind: 'country', name: text.slice(1, 3), other: none } as const;
  return { ...place, rank: Number(text[0]), ...placeAt(text.slice(3)) };
}

function readLake(title: string, point: string): readonly NamedPlace[] {
  const [name = '', ...others] = title.slice(1).split('|');
  if (name === '') return [];
  const other = new Map(others.map((one) => [one.slice(0, 2), one.slice(3)]));
  return [{ kind: 'lake', name, other, rank: Number(title[0]), ...placeAt(point) }];
}

function readTowns(line: string): readonly NamedPlace[] {
  const rank = Number(line[0]);
  const region = line.slice(1, 3);
  return line
    .slice(3)
    .split(',')
    .map((text) => ({
      ...({ kind: 'town', name: text.slice(0, -pointLength), other: none } as const),
      ...{ region, rank },
      ...placeAt(text.slice(-pointLength)),
    }));
}

const readPoints = (text: string): Shore =>
  Array.from({ length: text.length / pointLength }, (_, place) => {
    const { longitude, latitude } = placeAt(text.slice(place * pointLength));
    return [longitude, latitude];
  });

/** Two numbers of three digits to the base 36, in hundredths of a degree from the south-west. */
function placeAt(text: string): { readonly longitude: number; readonly latitude: number } {
  const degrees = (digits: string): number => Number.parseInt(digits, 36) / 100;
  return { longitude: degrees(text.slice(0, 3)) - 180, latitude: degrees(text.slice(3, 6)) - 90 };
}

/** How somebody calls a place in their language. */
export type Naming = (place: NamedPlace) => string;

/** Names in a language: browsers know countries, and a lake is called one. */
export function namingIn(language: string, lake: (name: string) => string): Naming {
  const regions = new Intl.DisplayNames([language], { type: 'region' });
  return ({ kind, name, other }) => {
    if (kind === 'country') return regions.of(name) ?? name;
    const own = other.get(language) ?? name;
    return kind === 'lake' ? lake(own) : own;
  };
}

/** From which zoom on a rank is shown. */
const firstZooms = {
  country: [2, 3, 4, 5, 6],
  lake: [4, 5, 6, 7],
  town: [3, 4, 5, 6, 7, 8],
} as const;

/** Closer than this many zooms to its first one, a country is larger than the window. */
const countryZooms = 4;

/** What a map names at a zoom, the most important first. */
export function namesAt(names: readonly NamedPlace[], zoom: number): readonly NamedPlace[] {
  const first = ({ kind, rank }: NamedPlace): number => firstZooms[kind][rank] ?? 0;
  return names
    .filter((place) => {
      const from = first(place);
      return zoom >= from && (place.kind !== 'country' || zoom <= from + countryZooms);
    })
    .toSorted((one, other) => first(one) - first(other));
}

/** A rectangle in pixels. */
export interface Box {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
}

/** Whether two rectangles have anything in common. */
export const isOver = (one: Box, other: Box): boolean =>
  one.left < other.left + other.width &&
  other.left < one.left + one.width &&
  one.top < other.top + other.height &&
  other.top < one.top + one.height;

/** What is typed finds names that begin so, then those that have a word that does. */
export function searchPlaces(
  names: readonly NamedPlace[],
  wanted: string,
  options: { readonly naming: Naming; readonly max: number },
): readonly NamedPlace[] {
  const { naming, max } = options;
  const text = folded(wanted.trim());
  if (text === '') return [];
  const found = names.flatMap((place) => {
    const name = folded(naming(place));
    const isWord = name.includes(` ${text}`);
    // Of a lake the first word only says that it is one.
    const isStart = name.startsWith(text) || (isWord && place.kind === 'lake');
    const at = isStart ? 0 : isWord ? 1 : undefined;
    return at === undefined ? [] : [{ place, at, isSame: name === text }];
  });
  return found
    .sort(
      (one, other) =>
        Number(other.isSame) - Number(one.isSame) ||
        one.at - other.at ||
        weight(one.place) - weight(other.place),
    )
    .slice(0, max)
    .map(({ place }) => place);
}

const weight = ({ kind, rank }: NamedPlace): number => (kind === 'country' ? -1 : rank);

const folded = (text: string): string =>
  text.normalize('NFD').replaceAll(/\p{M}/gu, '').toLowerCase();
