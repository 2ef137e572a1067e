import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

/** Bends smaller than this many degrees are left out. */
const toleranceDegrees = 0.1;
/** Steps of the grid around the world that points are rounded to: 0.03 degrees each. */
const gridSteps = 12_000;

export type Point = readonly [number, number];

export interface Transform {
  readonly scale: Point;
  readonly translate: Point;
}

export interface Topology {
  readonly type: 'Topology';
  readonly transform: Transform;
  readonly arcs: readonly (readonly Point[])[];
  readonly objects: Readonly<
    Record<'countries' | 'lakes', { readonly geometries: readonly Geometry[] }>
  >;
}

export interface Geometry {
  readonly type: string;
  /** The ISO 3166 number of a country. */
  readonly id?: string;
  readonly properties?: { readonly name?: string };
  readonly arcs?: unknown;
}

/**
 * The coasts and borders of the world as TopoJSON, coarse enough for a first load: what maps show
 * where no tile server is set. Borders are shared arcs, so neighbours stay neighbours.
 */
export function createWorldOutline(): string {
  const path = createRequire(import.meta.url).resolve('world-atlas/countries-50m.json');
  const { transform, arcs, objects } = JSON.parse(readFileSync(path, 'utf8')) as Topology;
  const grid: Transform = {
    scale: [360 / gridSteps, 360 / gridSteps],
    translate: [-180, -90],
  };
  const geometries = objects.countries.geometries.map(({ type, arcs: refs }) => ({
    type,
    arcs: refs,
  }));
  return JSON.stringify({
    type: 'Topology',
    transform: grid,
    arcs: arcs.map((arc) => toSteps(simplified(toDegrees(arc, transform)), grid)),
    objects: { countries: { type: 'GeometryCollection', geometries } },
  });
}

/** Points of an arc are kept as steps from the one before, in units of the grid. */
export function toDegrees(
  arc: readonly Point[],
  { scale, translate }: Transform,
): readonly Point[] {
  let [x, y] = [0, 0];
  return arc.map(([dx, dy]) => {
    x += dx;
    y += dy;
    return [x * scale[0] + translate[0], y * scale[1] + translate[1]];
  });
}

function toSteps(points: readonly Point[], { scale, translate }: Transform): readonly Point[] {
  let [x, y] = [0, 0];
  return points.map(([longitude, latitude]) => {
    const column = Math.round((longitude - translate[0]) / scale[0]);
    const row = Math.round((latitude - translate[1]) / scale[1]);
    const step: Point = [column - x, row - y];
    [x, y] = [column, row];
    return step;
  });
}

/** Leaves out what is nearer than the tolerance to a straight line (Douglas and Peucker). */
export function simplified(
  points: readonly Point[],
  tolerance = toleranceDegrees,
): readonly Point[] {
  const first = points[0];
  const last = points.at(-1);
  if (first === undefined || last === undefined || points.length < 3) return points;
  let farthest = 0;
  let index = 0;
  for (let at = 1; at < points.length - 1; at += 1) {
    const distance = distanceToLine(points[at] ?? first, first, last);
    if (distance > farthest) [farthest, index] = [distance, at];
  }
  if (farthest <= tolerance) return [first, last];
  const left = simplified(points.slice(0, index + 1), tolerance);
  return [...left.slice(0, -1), ...simplified(points.slice(index), tolerance)];
}

/** How far a point is from a line between two others, in degrees. */
export function distanceToLine([x, y]: Point, [ax, ay]: Point, [bx, by]: Point): number {
  const [dx, dy] = [bx - ax, by - ay];
  const length = dx * dx + dy * dy;
  const share = length === 0 ? 0 : ((x - ax) * dx + (y - ay) * dy) / length;
  const bounded = Math.min(1, Math.max(0, share));
  return Math.hypot(x - ax - bounded * dx, y - ay - bounded * dy);
}
