import { fishPond } from './fish-pond.ts';
import type { Equipment, Site } from './model.ts';
import { chance, noiseKey } from './noise.ts';
import { type Place, places } from './places.ts';
import { soilProbe } from './soil-probe.ts';
import { solarPump } from './solar-pump.ts';
import { waterTank } from './water-tank.ts';
import { createWeather, type Weather } from './weather.ts';
import { weatherStation } from './weather-station.ts';

/** A device of the demo, ready to be described to a service and to be asked for its values. */
export interface DemoDevice extends Equipment {
  readonly id: string;
  readonly name: string;
  readonly domain: string;
  /** The name of the place where it stands. */
  readonly town: string;
  readonly gatewayId: string;
  readonly isPrivate: boolean;
  readonly isShared: boolean;
  readonly latitude: number;
  readonly longitude: number;
}

interface Kind {
  readonly slug: string;
  readonly name: string;
  readonly domain: string;
  readonly equip: (site: Site) => Equipment;
}

const kinds = [
  { slug: 'weather', name: 'Weather station', domain: 'weather', equip: weatherStation },
  { slug: 'soil', name: 'Soil probe', domain: 'agriculture', equip: soilProbe },
  { slug: 'pond', name: 'Fish pond', domain: 'aquaculture', equip: fishPond },
  { slug: 'tank', name: 'Water tank', domain: 'water', equip: waterTank },
  { slug: 'pump', name: 'Solar pump', domain: 'water', equip: solarPump },
] as const satisfies readonly Kind[];

/** Every third device is private; the first of them is shared. */
const privateEvery = 3;
const sharedIndex = 2;

/** The first `count` devices of the world of this seed; more devices never change the others. */
export function createFleet(options: {
  readonly count: number;
  readonly seed: number;
  /** Starts every device id. */
  readonly prefix: string;
}): readonly DemoDevice[] {
  const weathers = new Map<Place, Weather>();
  return Array.from({ length: options.count }, (_, index) => {
    // Both lists are never empty, and the index stays below their length.
    const place = places[index % places.length] as Place;
    const weather = weathers.get(place) ?? createWeather(place, options.seed);
    weathers.set(place, weather);
    return createDevice({ ...options, index, place, weather });
  });
}

function createDevice(options: {
  readonly index: number;
  readonly seed: number;
  readonly prefix: string;
  readonly place: Place;
  readonly weather: Weather;
}): DemoDevice {
  const { index, seed, prefix, place, weather } = options;
  const kind = kinds[index % kinds.length] as Kind;
  const twin = Math.floor(index / (places.length * kinds.length));
  const suffix = twin === 0 ? '' : `-${twin + 1}`;
  const key = noiseKey(seed, `${place.slug} ${kind.slug}${suffix}`);
  const isPrivate = index % privateEvery === sharedIndex;
  return {
    id: `${prefix}-${place.slug}-${kind.slug}${suffix}`,
    name: `${kind.name}, ${place.name}${twin === 0 ? '' : ` ${twin + 1}`}`,
    domain: kind.domain,
    town: place.name,
    gatewayId: `${prefix}-gateway-${place.slug}`,
    isPrivate,
    isShared: index === sharedIndex,
    // A few kilometres around the middle of the town.
    latitude: Number((place.latitude + 0.04 * (chance(key, 1) - 0.5)).toFixed(5)),
    longitude: Number((place.longitude + 0.04 * (chance(key, 2) - 0.5)).toFixed(5)),
    ...kind.equip({ place, weather, key }),
  };
}
