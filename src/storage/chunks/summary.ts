import { crc32 } from 'node:zlib';
import type { Stretches } from '../../domain/datapoints/stretches.ts';
import { asNumber } from '../../lib/json.ts';
import { storedJson } from '../../lib/long-json.ts';
import { putFlags, takeFlags } from './bits.ts';
import {
  createSink,
  createSource,
  DamagedBytesError,
  putByte,
  putBytes,
  putUint32,
  putVarint,
  takeByte,
  takeCount,
  takeUint32,
  writtenBytes,
} from './bytes.ts';
import type { Columns } from './columns.ts';
import { putIntegers, takeIntegers } from './integers.ts';
import { type Digits, digitsOf, putNumbers, takeNumbers } from './numbers.ts';
import { putEdges, putKinds, takeEdges, takeKinds } from './summary-parts.ts';

const hour = 3_600_000;
/** Hours of fewer datapoints are no quicker to read than the datapoints. */
const datapointsPerHourMin = 32;
/** Where hours hold fewer: parts of a day in UTC, which represent days that begin with them. */
const partsOfDay = [6, 12, 24];
/** Parts of a day with so many datapoints take little on disk beside them. */
const datapointsPerPartMin = 64;
/** The whole block. */
const noGrain = 0;
/** Larger numbers may add up to what no double holds. */
const magnitudeMax = 1e290;
/**
 * The first one had hours or whole blocks, and did not say which. The third one was for hours with
 * both kinds of numbers, and is the second one but for them; the fourth one is for all hours that
 * retention leaves, and has their edges behind the kinds.
 */
const versions = { withoutGrains: 1, withGrains: 2, withKinds: 3, withEdges: 4 };
const isKnown = (version: number): boolean => Object.values(versions).includes(version);
const blocksMax = 65_536;
const stretchesMax = 2 ** 20;

/** The stretches of one block. */
export interface BlockSummary {
  readonly count: number;
  readonly minTime: number;
  readonly maxTime: number;
  /** How many hours each stretch lasts, as clocks in UTC cut them; 0: all of the block. */
  readonly grain: number;
  readonly stretches: Stretches;
}

/** The stretches of a chunk, and which of them each block has. */
export interface ChunkSummary {
  readonly stretches: Stretches;
  /** Block after block: its first stretch; at last, the end. */
  readonly bounds: readonly number[];
  /** Of each block: the hours of its stretches, datapoints, and the times of first and last. */
  readonly grains: Float64Array;
  readonly counts: Float64Array;
  readonly minTimes: Float64Array;
  readonly maxTimes: Float64Array;
}

/**
 * Summarises the datapoints of a block: by the hour where hours hold many, else by parts of a day
 * where those do. `hours` of a stretch may be given instead, 0 for one of all; and `known`, the
 * digits of its numbers.
 */
export function summarise(
  columns: Columns,
  hours = grainFor(columns),
  known?: Digits,
): BlockSummary {
  const { count, times } = columns;
  const minTime = times[0] ?? 0;
  const maxTime = times[count - 1] ?? 0;
  const length = hours * hour;
  const starts: number[] = [];
  let end = Number.NEGATIVE_INFINITY;
  for (let row = 0; row < count; row += 1) {
    const time = times[row] ?? 0;
    if (time < end) continue;
    starts.push(row);
    end = hours === noGrain ? Infinity : (Math.floor(time / length) + 1) * length;
  }
  const grain = starts.length > 1 ? hours : noGrain;
  const stretches = emptyStretches(starts.length);
  const numbers = numbersOf(columns);
  const digits = known ?? digitsOf(numbers.filter((number) => !Number.isNaN(number)));
  for (const [at, start] of starts.entries()) {
    fillStretch(stretches, at, { columns, numbers, start, end: starts[at + 1] ?? count, digits });
  }
  setTimes(stretches, 0, starts.length, { minTime, maxTime, grain });
  return { count, minTime, maxTime, grain, stretches };
}

function grainFor({ count, times }: Columns): number {
  const [minTime, maxTime] = [times[0] ?? 0, times[count - 1] ?? 0];
  const isWorth = (hours: number, datapointsMin: number): boolean => {
    const length = hours * hour;
    const stretches = Math.floor(maxTime / length) - Math.floor(minTime / length) + 1;
    return count >= stretches * datapointsMin;
  };
  if (isWorth(1, datapointsPerHourMin)) return 1;
  return partsOfDay.find((hours) => isWorth(hours, datapointsPerPartMin)) ?? noGrain;
}

/** The numbers that values count as; NaN where a value is no number. */
function numbersOf({ count, numbers, texts }: Columns): Float64Array {
  if (texts === undefined) return numbers;
  const all = new Float64Array(count);
  for (let row = 0; row < count; row += 1) {
    const text = texts[row];
    all[row] =
      text === undefined ? (numbers[row] ?? 0) : (asNumber(storedJson(text)) ?? Number.NaN);
  }
  return all;
}

interface StretchRows {
  readonly columns: Columns;
  readonly numbers: Float64Array;
  readonly start: number;
  readonly end: number;
  readonly digits: Digits;
}

function fillStretch(into: Stretches, at: number, rows: StretchRows): void {
  const { columns, numbers, start, end, digits } = rows;
  let [json, texts, sum, lost, rise, fall] = [0, 0, 0, 0, 0, 0];
  let [min, max] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  let [first, last] = [Number.NaN, Number.NaN];
  for (let row = start; row < end; row += 1) {
    const number = numbers[row] ?? Number.NaN;
    if (Number.isNaN(number)) continue;
    if (columns.texts?.[row] === undefined) json += 1;
    else texts += 1;
    const next = sum + number;
    lost += Math.abs(sum) >= Math.abs(number) ? sum - next + number : number - next + sum;
    sum = next;
    if (number < min) min = number;
    if (number > max) max = number;
    if (Number.isNaN(first)) first = number;
    else if (number > last) rise += number - last;
    else fall += last - number;
    last = number;
  }
  into.starts[at] = columns.times[start] ?? 0;
  into.counts[at] = end - start;
  into.numbers[at] = json;
  into.textNumbers[at] = texts;
  const isText = (row: number): boolean => columns.texts?.[row] !== undefined;
  into.hasNumbersAtEnds[at] = isText(start) || isText(end - 1) ? 0 : 1;
  if (json + texts === 0) return;
  const isLarge = Math.max(Math.abs(min), Math.abs(max)) > magnitudeMax;
  into.min[at] = min;
  into.max[at] = max;
  into.first[at] = first;
  into.last[at] = last;
  into.sum[at] = isLarge ? Number.NaN : sum + lost;
  into.rise[at] = isLarge ? 0 : rounded(rise, digits);
  into.fall[at] = isLarge ? 0 : rounded(fall, digits);
}

/** Steps between decimals are decimals, but for what doubles lose of them. */
function rounded(sum: number, digits: Digits): number {
  if (digits === 'doubles') return sum;
  const scale = 10 ** digits;
  const decimal = Math.round(sum * scale) / scale;
  return Math.abs(decimal - sum) <= 1e-9 * sum ? decimal : sum;
}

function emptyStretches(count: number): Stretches {
  const column = (): Float64Array => new Float64Array(count);
  return {
    ...{ count, starts: column(), ends: column(), counts: column(), numbers: column() },
    ...{ textNumbers: column(), min: column(), max: column(), sum: column(), first: column() },
    ...{ last: column(), rise: column(), fall: column(), hasNumbersAtEnds: new Uint8Array(count) },
  };
}

/** Turns times of first datapoints into the ends of stretches, within those of the block. */
function setTimes(
  { starts, ends }: Stretches,
  from: number,
  to: number,
  { minTime, maxTime, grain }: Pick<BlockSummary, 'minTime' | 'maxTime' | 'grain'>,
): void {
  // A single stretch of all begins and ends with the block.
  const length = Math.max(1, grain) * hour;
  for (let at = from; at < to; at += 1) {
    const begin = Math.floor((starts[at] ?? 0) / length) * length;
    starts[at] = at === from ? minTime : begin;
    ends[at] = at === to - 1 ? maxTime : begin + length - 1;
  }
}

const numberColumns = ['sum', 'first', 'last', 'rise', 'fall'] as const;

/** The bytes of the summaries of a chunk's blocks. */
export function encodeSummary(blocks: readonly BlockSummary[]): Buffer {
  const body = createSink(1_024);
  const sinks = { dense: body, loose: body };
  const all = joined(blocks.map(({ stretches }) => stretches));
  const column = (of: (block: BlockSummary) => number) => Float64Array.from(blocks, of);
  const counts = column(({ count }) => count);
  const sizes = column(({ stretches }) => stretches.count);
  const grains = column(({ grain }) => grain);
  const minTimes = column(({ minTime }) => minTime);
  const maxTimes = column(({ maxTime }) => maxTime);
  putVarint(body, blocks.length);
  putVarint(body, all.count);
  putIntegers(body, counts);
  putIntegers(body, sizes);
  putIntegers(body, grains);
  putNumbers(sinks, minTimes);
  putNumbers(sinks, maxTimes);
  const hours = all.starts.map((start) => Math.floor(start / hour));
  putNumbers(sinks, hours);
  for (const name of ['counts', 'numbers', 'textNumbers'] as const) {
    putIntegers(body, all[name], name === 'numbers' ? all.counts : undefined);
  }
  putFlags(body, all.hasNumbersAtEnds);
  putNumbers(sinks, all.min);
  putNumbers(sinks, all.max, all.min);
  for (const name of numberColumns) putNumbers(sinks, all[name], besideOf(all, name));
  const version = versionFor(all);
  if (version >= versions.withKinds) putKinds(body, all.kinds ?? []);
  if (version === versions.withEdges) putEdges(body, all.edges ?? []);
  // Integers are read four bytes at a time.
  putUint32(body, 0);
  const sink = createSink(body.length + 5);
  putByte(sink, version);
  putUint32(sink, crc32(writtenBytes(body)));
  putBytes(sink, writtenBytes(body));
  return writtenBytes(sink);
}

function versionFor({ kinds, edges }: Stretches): number {
  if (edges?.some((one) => one !== undefined)) return versions.withEdges;
  return kinds === undefined ? versions.withGrains : versions.withKinds;
}

/** Reads what encodeSummary wrote. Throws DamagedBytesError for anything else. */
export function decodeSummary(bytes: Uint8Array): ChunkSummary {
  const source = createSource(bytes);
  const version = takeByte(source);
  if (!isKnown(version)) throw new DamagedBytesError('unknown version of a summary');
  if (takeUint32(source) !== crc32(bytes.subarray(source.offset))) {
    throw new DamagedBytesError('the checksum of a summary does not match');
  }
  const sources = { dense: source, loose: source };
  const blocks = takeCount(source, blocksMax);
  const count = takeCount(source, stretchesMax);
  const counts = takeIntegers(source, blocks);
  const sizes = takeIntegers(source, blocks);
  const grains =
    version === versions.withoutGrains
      ? sizes.map((size) => (size > 1 ? 1 : noGrain))
      : takeIntegers(source, blocks);
  const minTimes = takeNumbers(sources, blocks);
  const maxTimes = takeNumbers(sources, blocks);
  const all = emptyStretches(count);
  all.starts.set(takeNumbers(sources, count));
  for (const name of ['counts', 'numbers', 'textNumbers'] as const) {
    all[name].set(takeIntegers(source, count, name === 'numbers' ? all.counts : undefined));
  }
  all.hasNumbersAtEnds.set(takeFlags(source, count));
  all.min.set(takeNumbers(sources, count));
  all.max.set(takeNumbers(sources, count, all.min));
  for (const name of numberColumns) all[name].set(takeNumbers(sources, count, besideOf(all, name)));
  const kinds = version >= versions.withKinds ? { kinds: takeKinds(source, count) } : {};
  const edges = version === versions.withEdges ? { edges: takeEdges(source, count) } : {};
  for (let at = 0; at < count; at += 1) all.starts[at] = (all.starts[at] ?? 0) * hour;
  const bounds = [0];
  for (let block = 0; block < blocks; block += 1) {
    const start = bounds[block] ?? 0;
    const end = start + (sizes[block] ?? 0);
    bounds.push(end);
    const [minTime, maxTime] = [minTimes[block] ?? 0, maxTimes[block] ?? 0];
    setTimes(all, start, end, { minTime, maxTime, grain: grains[block] ?? 0 });
  }
  if (bounds[blocks] !== count) throw new DamagedBytesError('a summary has another size');
  return { stretches: { ...all, ...kinds, ...edges }, bounds, grains, counts, minTimes, maxTimes };
}

/** About what a summary takes in memory. */
export function bytesOfSummary({ stretches, counts }: ChunkSummary): number {
  const columns = columnNames.length + columnsOfBlocks;
  return arrayBytes * columns + 8 * columnNames.length * stretches.count + 40 * counts.length;
}

/** Beside its numbers, about what an array takes. */
const arrayBytes = 200;
const columnsOfBlocks = 5;

/** The summaries of the single blocks. */
export function blockSummaries(summary: ChunkSummary): readonly BlockSummary[] {
  const { stretches, bounds, grains, counts, minTimes, maxTimes } = summary;
  return Array.from(counts, (count, block) => ({
    count,
    minTime: minTimes[block] ?? 0,
    maxTime: maxTimes[block] ?? 0,
    grain: grains[block] ?? 0,
    stretches: sliced(stretches, bounds[block] ?? 0, bounds[block + 1] ?? 0),
  }));
}

/** The values that a column is likely to be near. */
function besideOf(all: Stretches, name: (typeof numberColumns)[number]): Float64Array | undefined {
  if (name === 'sum') return all.min.map((min, at) => min * (all.counts[at] ?? 0));
  if (name === 'first' || name === 'last') return all.min;
  if (name === 'rise') return undefined;
  return all.rise.map((rise, at) => rise - (all.last[at] ?? 0) + (all.first[at] ?? 0));
}

function joined(parts: readonly Stretches[]): Stretches {
  const all = emptyStretches(parts.reduce((sum, { count }) => sum + count, 0));
  let offset = 0;
  for (const part of parts) {
    for (const name of columnNames) all[name].set(part[name], offset);
    offset += part.count;
  }
  const none = ({ count }: Stretches) => new Array<undefined>(count).fill(undefined);
  const [hasKinds, hasEdges] = [parts.some(({ kinds }) => kinds), parts.some(({ edges }) => edges)];
  return {
    ...all,
    ...(hasKinds && { kinds: parts.flatMap((part) => part.kinds ?? none(part)) }),
    ...(hasEdges && { edges: parts.flatMap((part) => part.edges ?? none(part)) }),
  };
}

function sliced(all: Stretches, from: number, to: number): Stretches {
  const slice = emptyStretches(to - from);
  for (const name of columnNames) slice[name].set(all[name].subarray(from, to));
  return slice;
}

const columnNames = [
  ...(['starts', 'ends', 'counts', 'numbers', 'textNumbers', 'min', 'max', 'sum'] as const),
  ...(['first', 'last', 'rise', 'fall', 'hasNumbersAtEnds'] as const),
] as const;
