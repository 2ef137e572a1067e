import { edgesCount, edgesOfList, listOfEdges } from '../../domain/datapoints/growth.ts';
import type { StretchEdges } from '../../domain/datapoints/stretches.ts';
import {
  type ByteSink,
  type ByteSource,
  DamagedBytesError,
  putVarint,
  takeCount,
} from './bytes.ts';
import { putIntegers, takeIntegers } from './integers.ts';
import { putNumbers, takeNumbers } from './numbers.ts';

type Edges = readonly (StretchEdges | undefined)[];

/** Writes what is known of the ends of stretches, where it is. */
export function putEdges(sink: ByteSink, edges: Edges): void {
  const sinks = { dense: sink, loose: sink };
  const found = edges.flatMap((one, at) => (one === undefined ? [] : [{ at, one }]));
  const lists = found.map(({ one }) => listOfEdges(one));
  putVarint(sink, found.length);
  putIntegers(
    sink,
    Float64Array.from(found, ({ at }) => at),
  );
  let beside: Float64Array | undefined;
  for (let figure = 0; figure < edgesCount; figure += 1) {
    const column = Float64Array.from(lists, (list) => list[figure] ?? 0);
    putNumbers(sinks, column, figure < besideCount ? beside : undefined);
    beside = column;
  }
}

/** So many of the first figures are near each other. */
const besideCount = 4;

/** Reads what `putEdges` wrote of so many stretches. */
export function takeEdges(source: ByteSource, count: number): Edges {
  const sources = { dense: source, loose: source };
  const found = takeCount(source, count);
  const places = takeIntegers(source, found);
  const columns: Float64Array[] = [];
  for (let figure = 0; figure < edgesCount; figure += 1) {
    const beside = figure < besideCount ? columns[figure - 1] : undefined;
    columns.push(takeNumbers(sources, found, beside));
  }
  const edges: (StretchEdges | undefined)[] = new Array(count).fill(undefined);
  for (const [one, place] of places.entries()) {
    if (!(place in edges)) throw new DamagedBytesError('unknown edges');
    edges[place] = edgesOfList(columns.map((column) => column[one] ?? 0));
  }
  return edges;
}
