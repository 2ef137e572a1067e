/** Something with a place on the map. */
export interface Placed {
  readonly id: string;
  readonly latitude: number;
  readonly longitude: number;
}

/** Things too close to be told apart at a zoom level, or a thing alone. */
export interface Cluster<Item extends Placed> {
  readonly latitude: number;
  readonly longitude: number;
  readonly items: readonly Item[];
}

/** Markers closer than this are one. */
export const cellPx = 56;

const latitudeMax = 85.0511;

/** Where a place is on a flat map of the world, in pixels at a zoom level. */
export function project({ latitude, longitude }: Omit<Placed, 'id'>, zoom: number) {
  const size = 256 * 2 ** zoom;
  const bounded = Math.min(latitudeMax, Math.max(-latitudeMax, latitude));
  const sine = Math.sin((bounded * Math.PI) / 180);
  return {
    x: (longitude / 360 + 0.5) * size,
    y: (0.5 - Math.log((1 + sine) / (1 - sine)) / (4 * Math.PI)) * size,
  };
}

/**
 * Puts things into clusters by the cells of a grid; a cluster takes in those of the neighbouring
 * cells that are near its middle. Every thing is in exactly one cluster, in the order given.
 */
export function clustersOf<Item extends Placed>(
  items: readonly Item[],
  zoom: number,
): readonly Cluster<Item>[] {
  const made: { x: number; y: number; items: Item[] }[] = [];
  const byCell = new Map<string, (typeof made)[number][]>();
  for (const item of items) {
    const { x, y } = project(item, zoom);
    const column = Math.floor(x / cellPx);
    const row = Math.floor(y / cellPx);
    const near = nearest(byCell, { x, y, column, row });
    if (near !== undefined) {
      near.items.push(item);
      continue;
    }
    const cluster = { x, y, items: [item] };
    made.push(cluster);
    const key = `${column}/${row}`;
    byCell.set(key, [...(byCell.get(key) ?? []), cluster]);
  }
  return made.map((cluster) => ({ ...middleOf(cluster.items), items: cluster.items }));
}

function nearest<Made extends { readonly x: number; readonly y: number }>(
  byCell: ReadonlyMap<string, readonly Made[]>,
  { x, y, column, row }: { x: number; y: number; column: number; row: number },
): Made | undefined {
  let found: Made | undefined;
  let best = cellPx;
  for (let dx = -1; dx <= 1; dx += 1) {
    for (let dy = -1; dy <= 1; dy += 1) {
      for (const cluster of byCell.get(`${column + dx}/${row + dy}`) ?? []) {
        const distance = Math.hypot(cluster.x - x, cluster.y - y);
        if (distance < best) [found, best] = [cluster, distance];
      }
    }
  }
  return found;
}

function middleOf(items: readonly Placed[]): Omit<Placed, 'id'> {
  const mean = (pick: (item: Placed) => number): number =>
    items.reduce((sum, item) => sum + pick(item), 0) / items.length;
  return { latitude: mean((item) => item.latitude), longitude: mean((item) => item.longitude) };
}

/** The south-west and north-east corners of the smallest field that holds all. */
export function boundsOf(
  items: readonly Placed[],
): readonly [readonly [number, number], readonly [number, number]] | undefined {
  if (items.length === 0) return undefined;
  let [south, west, north, east] = [90, 180, -90, -180];
  for (const { latitude, longitude } of items) {
    south = Math.min(south, latitude);
    north = Math.max(north, latitude);
    west = Math.min(west, longitude);
    east = Math.max(east, longitude);
  }
  return [
    [south, west],
    [north, east],
  ];
}
