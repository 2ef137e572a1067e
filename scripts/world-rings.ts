import {
  distanceToLine,
  type Geometry,
  type Point,
  type Topology,
  toDegrees,
} from './world-outline.ts';

/** The outer rings of a place in a topology, in degrees. */
export function ringsOf({ arcs, transform }: Topology, { type, arcs: refs }: Geometry): Point[][] {
  const ring = (list: readonly number[]): Point[] =>
    list.flatMap((ref, place) => {
      // A negative number is the arc with that complement, walked from its end.
      const points = toDegrees(arcs[ref < 0 ? ~ref : ref] ?? [], transform);
      const walked = ref < 0 ? points.toReversed() : points;
      return place === 0 ? walked : walked.slice(1);
    });
  if (type === 'Polygon') return (refs as number[][]).slice(0, 1).map(ring);
  if (type === 'MultiPolygon') return (refs as number[][][]).map(([outer]) => ring(outer ?? []));
  return [];
}

/** In square degrees as they are on the globe: those far north count less. */
export function areaOf(ring: readonly Point[]): number {
  const twice = ring.reduce((sum, [x, y], place) => {
    const [nextX, nextY] = ring[(place + 1) % ring.length] ?? [x, y];
    return sum + x * nextY - nextX * y;
  }, 0);
  const [, south, , north] = boundsOf(ring);
  return (Math.abs(twice) / 2) * Math.cos((((south + north) / 2) * Math.PI) / 180);
}

/** The steps of the grid on which the middle of a place is looked for. */
const gridSteps = 24;

/** Where a name stands best: the point of a grid within a place that is farthest from its edge. */
export function middleOf(ring: readonly Point[]): Point {
  const [west, south, east, north] = boundsOf(ring);
  let best: Point = [(west + east) / 2, (south + north) / 2];
  let farthest = -1;
  for (let column = 1; column < gridSteps; column += 1) {
    for (let row = 1; row < gridSteps; row += 1) {
      const point: Point = [
        west + ((east - west) * column) / gridSteps,
        south + ((north - south) * row) / gridSteps,
      ];
      if (!isInside(point, ring)) continue;
      const distance = Math.min(
        ...ring.map((corner, place) =>
          distanceToLine(point, corner, ring[(place + 1) % ring.length] ?? corner),
        ),
      );
      if (distance > farthest) [best, farthest] = [point, distance];
    }
  }
  return best;
}

/** Whether a line from a point leaves the ring once more than it comes in. */
export function isInside([x, y]: Point, ring: readonly Point[]): boolean {
  let isIn = false;
  for (const [place, [ax, ay]] of ring.entries()) {
    const [bx, by] = ring[(place + 1) % ring.length] ?? [ax, ay];
    if (ay > y !== by > y && x < ax + ((y - ay) / (by - ay)) * (bx - ax)) isIn = !isIn;
  }
  return isIn;
}

/** West, south, east, north. */
function boundsOf(ring: readonly Point[]): readonly [number, number, number, number] {
  const xs = ring.map(([x]) => x);
  const ys = ring.map(([, y]) => y);
  return [Math.min(...xs), Math.min(...ys), Math.max(...xs), Math.max(...ys)];
}
