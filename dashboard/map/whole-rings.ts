import type { GeoJsonObject, MultiPolygon, Polygon, Position } from 'geojson';

const turn = 360;

/** Places as GeoJSON, with every ring that crosses the date line drawn in one piece. */
export function wholeRings(places: GeoJsonObject): GeoJsonObject[] {
  return polygonsOf(places).flatMap((rings) => {
    const whole = rings.map(wholeRing);
    const longitudes = (whole[0] ?? []).map(([longitude = 0]) => longitude);
    const west = Math.min(...longitudes);
    const east = Math.max(...longitudes);
    // What reaches over one edge of the map comes back in at the other.
    const shifts = [0, ...(east > turn / 2 ? [-turn] : []), ...(west < -turn / 2 ? [turn] : [])];
    return shifts.map((by) => polygon(whole.map((ring) => shifted(ring, by))));
  });
}

/** Left as it is, a step from 180 to -180 is a line across the whole map. */
export function wholeRing(ring: readonly Position[]): readonly Position[] {
  let by = 0;
  let before: number | undefined;
  return ring.map(([longitude = 0, latitude = 0]) => {
    if (before !== undefined && longitude - before > turn / 2) by -= turn;
    if (before !== undefined && before - longitude > turn / 2) by += turn;
    before = longitude;
    return [longitude + by, latitude];
  });
}

const shifted = (ring: readonly Position[], by: number): Position[] =>
  ring.map(([longitude = 0, latitude = 0]) => [longitude + by, latitude]);

const polygon = (coordinates: Position[][]): Polygon => ({ type: 'Polygon', coordinates });

function polygonsOf(places: GeoJsonObject): readonly (readonly Position[][])[] {
  if (isOf(places, 'FeatureCollection')) {
    const { features } = places as unknown as { readonly features: readonly GeoJsonObject[] };
    return features.flatMap(polygonsOf);
  }
  if (isOf(places, 'Feature')) {
    const { geometry } = places as unknown as { readonly geometry: GeoJsonObject | null };
    return geometry === null ? [] : polygonsOf(geometry);
  }
  if (isOf(places, 'Polygon')) return [(places as Polygon).coordinates];
  return isOf(places, 'MultiPolygon') ? (places as MultiPolygon).coordinates : [];
}

const isOf = ({ type }: GeoJsonObject, wanted: GeoJsonObject['type']): boolean => type === wanted;
