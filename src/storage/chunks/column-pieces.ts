import type { Columns } from './columns.ts';

/** The rows from `from` to before `to`: parts of the same memory. */
export function sliceColumns(columns: Columns, from: number, to: number): Columns {
  const { times, received, timed, numbers } = columns;
  const texts = columns.texts?.slice(from, to);
  return {
    count: to - from,
    times: times.subarray(from, to),
    received: received.subarray(from, to),
    timed: timed.subarray(from, to),
    numbers: numbers.subarray(from, to),
    ...(texts?.some((text) => text !== undefined) && { texts }),
  };
}

/** Both in one order of time; at the same time `earlier`, which arrived first, goes first. */
export function mergeColumns(earlier: Columns, later: Columns): Columns {
  const count = earlier.count + later.count;
  const [times, received] = [new Float64Array(count), new Float64Array(count)];
  const numbers = new Float64Array(count);
  const timed = new Uint8Array(count);
  const hasTexts = earlier.texts !== undefined || later.texts !== undefined;
  const texts = hasTexts ? new Array<string | undefined>(count).fill(undefined) : undefined;
  let old = 0;
  for (let at = 0; at < count; at += 1) {
    const next = at - old;
    const isOld =
      old < earlier.count &&
      (next >= later.count || (earlier.times[old] ?? 0) <= (later.times[next] ?? 0));
    const from = isOld ? earlier : later;
    const row = isOld ? old : next;
    times[at] = from.times[row] ?? 0;
    received[at] = from.received[row] ?? 0;
    timed[at] = from.timed[row] ?? 0;
    numbers[at] = from.numbers[row] ?? 0;
    if (texts !== undefined) texts[at] = from.texts?.[row];
    if (isOld) old += 1;
  }
  return { count, times, received, timed, numbers, ...(texts !== undefined && { texts }) };
}

/** Every so many characters of a value weigh as much as a datapoint. */
const charactersPerWeight = 32;

/**
 * Cuts columns into blocks. `fill`: full blocks and a rest, for datapoints that come at the end;
 * `even`: blocks of one size, so that each can take the next late datapoint.
 */
export function cutColumns(
  columns: Columns,
  limits: { readonly chunkDatapointsMax: number; readonly chunkWeightMax: number },
  how: 'fill' | 'even',
): readonly Columns[] {
  const { chunkDatapointsMax, chunkWeightMax } = limits;
  const pieces = Math.max(1, Math.ceil(columns.count / chunkDatapointsMax));
  const countMax = how === 'fill' ? chunkDatapointsMax : Math.ceil(columns.count / pieces);
  const cut: Columns[] = [];
  let start = 0;
  let weight = 0;
  for (let row = 0; row < columns.count; row += 1) {
    const added = 1 + Math.floor((columns.texts?.[row]?.length ?? 0) / charactersPerWeight);
    if (row > start && (row - start >= countMax || weight + added > chunkWeightMax)) {
      cut.push(sliceColumns(columns, start, row));
      start = row;
      weight = 0;
    }
    weight += added;
  }
  if (columns.count > start) cut.push(sliceColumns(columns, start, columns.count));
  return cut;
}
