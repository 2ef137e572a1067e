import { edgesCount, edgesOfList, listOfEdges } from '../../domain/datapoints/growth.ts';
import {
  kindFiguresCount,
  kindStepsMax,
  kindsOfList,
  listOfKinds,
  type StretchEdges,
  type StretchKinds,
} from '../../domain/datapoints/stretches.ts';
import {
  type ByteSink,
  type ByteSource,
  DamagedBytesError,
  putVarint,
  takeCount,
} from './bytes.ts';
import { putIntegers, takeIntegers } from './integers.ts';
import { putNumbers, takeNumbers } from './numbers.ts';

/** Of each stretch, where it is known. */
type Some<Part> = readonly (Part | undefined)[];

/** Writes which parts are known, and answers those. */
function putPlaces<Part>(sink: ByteSink, parts: Some<Part>): readonly Part[] {
  const found = parts.flatMap((one, at) => (one === undefined ? [] : [{ at, one }]));
  putVarint(sink, found.length);
  putIntegers(
    sink,
    Float64Array.from(found, ({ at }) => at),
  );
  return found.map(({ one }) => one);
}

/** Parts at their places of `count`. */
function placed<Part>(
  count: number,
  places: Float64Array,
  partAt: (one: number) => Part | undefined,
): Some<Part> {
  const parts: (Part | undefined)[] = new Array(count).fill(undefined);
  for (const [one, place] of places.entries()) {
    const part = partAt(one);
    if (part === undefined || !(place in parts)) throw new DamagedBytesError('unknown parts');
    parts[place] = part;
  }
  return parts;
}

/** So many of the first figures of edges are near each other. */
const besideCount = 4;

/** Writes what is known of the ends of stretches, where it is. */
export function putEdges(sink: ByteSink, edges: Some<StretchEdges>): void {
  const sinks = { dense: sink, loose: sink };
  const lists = putPlaces(sink, edges).map(listOfEdges);
  let beside: Float64Array | undefined;
  for (let figure = 0; figure < edgesCount; figure += 1) {
    const column = Float64Array.from(lists, (list) => list[figure] ?? 0);
    putNumbers(sinks, column, figure < besideCount ? beside : undefined);
    beside = column;
  }
}

/** Reads what `putEdges` wrote of so many stretches. */
export function takeEdges(source: ByteSource, count: number): Some<StretchEdges> {
  const sources = { dense: source, loose: source };
  const found = takeCount(source, count);
  const places = takeIntegers(source, found);
  const columns: Float64Array[] = [];
  for (let figure = 0; figure < edgesCount; figure += 1) {
    const beside = figure < besideCount ? columns[figure - 1] : undefined;
    columns.push(takeNumbers(sources, found, beside));
  }
  return placed(count, places, (one) => edgesOfList(columns.map((column) => column[one] ?? 0)));
}

/** Writes what is known of the kinds of numbers of those stretches that have both. */
export function putKinds(sink: ByteSink, kinds: Some<StretchKinds>): void {
  const sinks = { dense: sink, loose: sink };
  const found = putPlaces(sink, kinds);
  const lists = found.map(listOfKinds);
  const steps = found.flatMap((one) => one.steps);
  putIntegers(
    sink,
    Float64Array.from(found, (one) => one.steps.length),
  );
  for (let figure = 0; figure < kindFiguresCount; figure += 1) {
    const column = Float64Array.from(lists, (list) => list[figure] ?? 0);
    putNumbers(sinks, column);
  }
  for (const side of [0, 1] as const) {
    const column = Float64Array.from(steps, (step) => step[side]);
    putNumbers(sinks, column);
  }
}

/** Reads what `putKinds` wrote of so many stretches. */
export function takeKinds(source: ByteSource, count: number): Some<StretchKinds> {
  const sources = { dense: source, loose: source };
  const found = takeCount(source, count);
  const places = takeIntegers(source, found);
  const sizes = takeIntegers(source, found);
  if (sizes.some((size) => size > kindStepsMax)) throw new DamagedBytesError('too many steps');
  const columns = Array.from({ length: kindFiguresCount }, () => takeNumbers(sources, found));
  const all = sizes.reduce((sum, size) => sum + size, 0);
  const numbers = takeNumbers(sources, all);
  const texts = takeNumbers(sources, all);
  let step = 0;
  return placed(count, places, (one) => {
    const list = columns.map((column) => column[one] ?? 0);
    const end = step + (sizes[one] ?? 0);
    for (; step < end; step += 1) list.push(numbers[step] ?? 0, texts[step] ?? 0);
    return kindsOfList(list);
  });
}
