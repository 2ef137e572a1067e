import type { Location } from '../api/types.ts';
import type { MapPlace } from './map-place.ts';

/** What a map of places is given. */
export interface PlacesMapProps {
  readonly places: readonly MapPlace[];
  readonly heightPx: number;
  /** With a search for places and one's own position; a small map has neither. */
  readonly hasTools?: boolean;
}

/** What a picker of a place is given. */
export interface LocationPickerProps {
  readonly value: Location | undefined;
  readonly onChange: (value: Location | undefined) => void;
}
