import type { Placed } from './clusters.ts';

/** How something on the map is; alert wins over silence in a cluster. */
export type PlaceState = 'fresh' | 'stale' | 'alert' | 'off';

/** Something on the map. All of it is shown as text. */
export interface MapPlace extends Placed {
  readonly name: string;
  readonly state: PlaceState;
  /** What it says, below its name. */
  readonly text?: string;
  /** Where its screen is. */
  readonly href?: string;
}

const byUrgency: readonly PlaceState[] = ['alert', 'stale', 'fresh', 'off'];

/** The most urgent state among several. */
export function worstState(places: readonly Pick<MapPlace, 'state'>[]): PlaceState {
  return byUrgency.find((state) => places.some((place) => place.state === state)) ?? 'off';
}

/** How many are in each state, the most urgent first; states that nobody is in are left out. */
export function countsOf(
  places: readonly Pick<MapPlace, 'state'>[],
): readonly { readonly state: PlaceState; readonly count: number }[] {
  return byUrgency
    .map((state) => ({ state, count: places.filter((place) => place.state === state).length }))
    .filter(({ count }) => count > 0);
}
