import {
  batchOf,
  type ColumnBatch,
  type ValueTexts,
  weightOfBatch,
} from '../../../domain/datapoints/column-batch.ts';

/**
 * Rows of one series in order of arrival; they only grow at their end, and what was handed out of
 * them stays as it was, but for rows that `dropTail` took back.
 */
export interface MemtableColumns {
  count: number;
  /**
   * Three columns of the same length: timestamps, NaN where there is none; times of receipt;
   * numbers. One block, as most series have but a few datapoints in memory.
   */
  block: Float64Array;
  /** Where the first row is in each of the columns. */
  start: number;
  /** How many rows have a timestamp. */
  timedCount: number;
  /** JSON texts of the values that are no numbers; absent while all are. */
  texts: (string | undefined)[] | undefined;
}

/** Bytes of a row, with what growth leaves free. */
const rowBytes = 32;
/** Bytes of a text beside its characters, of two bytes each. */
const textBytes = 40;
/** Fewer rows are copied one by one. */
const manyRows = 16;
const columnCount = 3;
const nothing = new Float64Array(0);

/** Columns without a row. */
export function noRows(): MemtableColumns {
  return { count: 0, block: nothing, start: 0, timedCount: 0, texts: undefined };
}

/** Bytes of a datapoint in memory; text: that of its value unless it is a number. */
function bytesOfRow(text: string | undefined): number {
  return text === undefined ? rowBytes : rowBytes + textBytes + 2 * text.length;
}

/** Bytes of datapoints in memory. */
export function bytesOfRows({ count, texts }: ValueTexts): number {
  if (texts === undefined) return count * rowBytes;
  let bytes = 0;
  for (let row = 0; row < count; row += 1) bytes += bytesOfRow(texts[row]);
  return bytes;
}

/** How many of the first `count` rows take at most so many bytes; at least one. */
export function rowsWithin({ texts }: MemtableColumns, count: number, bytesMax: number): number {
  if (texts === undefined) return Math.min(count, Math.max(1, Math.floor(bytesMax / rowBytes)));
  let bytes = 0;
  for (let row = 0; row < count; row += 1) {
    bytes += bytesOfRow(texts[row]);
    if (bytes > bytesMax) return Math.max(1, row);
  }
  return count;
}

/** Adds the rows of a batch from `first` up to `end`, the latter excluded. */
export function appendRows(
  columns: MemtableColumns,
  batch: ColumnBatch,
  first: number,
  end: number,
): void {
  const added = end - first;
  reserve(columns, added);
  const { block, count } = columns;
  const length = block.length / columnCount;
  const at = columns.start + count;
  if (added < manyRows) {
    for (let n = 0; n < added; n += 1) {
      block[at + n] = batch.times[first + n] ?? 0;
      block[length + at + n] = batch.received[first + n] ?? 0;
      block[2 * length + at + n] = batch.numbers[first + n] ?? 0;
    }
  } else {
    block.set(batch.times.subarray(first, end), at);
    block.set(batch.received.subarray(first, end), length + at);
    block.set(batch.numbers.subarray(first, end), 2 * length + at);
  }
  for (let n = 0; n < added; n += 1) {
    if (batch.timed[first + n] === 1) columns.timedCount += 1;
    else block[at + n] = Number.NaN;
  }
  appendTexts(columns, batch, first, end);
  columns.count += added;
}

function appendTexts(
  columns: MemtableColumns,
  batch: ColumnBatch,
  first: number,
  end: number,
): void {
  if (batch.texts === undefined && columns.texts === undefined) return;
  columns.texts ??= new Array<string | undefined>(columns.count).fill(undefined);
  for (let row = first; row < end; row += 1) columns.texts.push(batch.texts?.[row]);
}

/** Grows for more rows; a block that is left stays as it is, for its readers. */
export function reserve(columns: MemtableColumns, added: number): void {
  const needed = columns.count + added;
  if (columns.start + needed <= columns.block.length / columnCount) return;
  // Two rows lie within the object of the block, with no memory of their own.
  const room = needed <= 2 ? 2 : Math.max(8, needed, Math.ceil(columns.count * 1.5));
  moveToBlock(columns, room);
}

function moveToBlock(columns: MemtableColumns, room: number): void {
  const { block, count, start } = columns;
  const length = block.length / columnCount;
  const moved = new Float64Array(room * columnCount);
  for (let column = 0; column < columnCount; column += 1) {
    const from = column * length + start;
    moved.set(block.subarray(from, from + count), column * room);
  }
  columns.block = moved;
  columns.start = 0;
}

/** Takes back the rows after the first `count`. */
export function dropTail(columns: MemtableColumns, count: number): void {
  for (let row = count; row < columns.count; row += 1) {
    if (timestampAt(columns, row) !== undefined) columns.timedCount -= 1;
  }
  columns.count = count;
  if (columns.texts !== undefined) columns.texts.length = count;
}

/** The first `count` rows, and the others; both may lie in the block that all of them were in. */
export function splitRows(
  columns: MemtableColumns,
  count: number,
): [head: MemtableColumns, rest: MemtableColumns] {
  const { block, start, texts } = columns;
  const head = { ...columns, count, texts: texts?.slice(0, count), timedCount: 0 };
  for (let row = 0; row < count; row += 1) {
    if (timestampAt(columns, row) !== undefined) head.timedCount += 1;
  }
  const rest = {
    block,
    count: columns.count - count,
    start: start + count,
    timedCount: columns.timedCount - head.timedCount,
    texts: texts?.slice(count),
  };
  // A short rest does not hold on to a large block.
  if (rest.count * columnCount * 4 < block.length) moveToBlock(rest, rest.count);
  return [head, rest];
}

/** Joins columns that splitRows had parted, or any two. */
export function joinRows(head: MemtableColumns, rest: MemtableColumns): MemtableColumns {
  const joined: MemtableColumns = { ...head, texts: head.texts?.slice() };
  if (head.block === rest.block && head.start + head.count === rest.start) {
    joined.count += rest.count;
    joined.timedCount += rest.timedCount;
    if (head.texts === undefined && rest.texts === undefined) return joined;
    const without = (count: number) => new Array<undefined>(count).fill(undefined);
    joined.texts = [...(head.texts ?? without(head.count)), ...(rest.texts ?? without(rest.count))];
    return joined;
  }
  moveToBlock(joined, head.count + rest.count);
  appendRows(joined, viewRows(rest, 0, rest.count), 0, rest.count);
  return joined;
}

/** The rows from `first` up to `end`, the latter excluded; they share memory with the columns. */
export function viewRows(columns: MemtableColumns, first: number, end: number): ColumnBatch {
  const { block, start, texts } = columns;
  const length = block.length / columnCount;
  const count = end - first;
  const column = (index: number) =>
    block.subarray(index * length + start + first, index * length + start + end);
  const received = column(1);
  const timed = new Uint8Array(count);
  let times = received;
  if (columns.timedCount === columns.count) {
    times = column(0);
    timed.fill(1);
  } else if (columns.timedCount > 0) {
    times = column(0).slice();
    for (let row = 0; row < count; row += 1) {
      const isTimed = !Number.isNaN(times[row]);
      timed[row] = isTimed ? 1 : 0;
      if (!isTimed) times[row] = received[row] ?? 0;
    }
  }
  const shown = texts !== undefined && (first > 0 || end < texts.length);
  return batchOf(
    { count, times, received, timed, numbers: column(2) },
    shown ? texts.slice(first, end) : texts,
  );
}

/** The timestamp in a row, or undefined. */
export function timestampAt({ block, start }: MemtableColumns, row: number): number | undefined {
  const timestamp = block[start + row] ?? Number.NaN;
  return Number.isNaN(timestamp) ? undefined : timestamp;
}

/** When a row was received. */
export function receivedAt({ block, start }: MemtableColumns, row: number): number {
  return block[block.length / columnCount + start + row] ?? 0;
}

/** The order time in a row. */
export function timeAt(columns: MemtableColumns, row: number): number {
  return timestampAt(columns, row) ?? receivedAt(columns, row);
}

/** The value in a row: its JSON text, unless it is a number. */
export function valueAt({ block, start, texts }: MemtableColumns, row: number): string | number {
  return texts?.[row] ?? block[(2 * block.length) / columnCount + start + row] ?? 0;
}

/** Datapoints in order of arrival that are durable in the log and not in chunks yet. */
export interface MemtableEntry {
  /** The datapoints, then those of the batch being made durable, which are not to be read yet. */
  columns: MemtableColumns;
  /** How many of the rows are durable. */
  count: number;
  /** The weight of the durable rows towards quotas. */
  weight: number;
  /** Bytes that they take in memory. */
  bytes: number;
  /** The log row of the first of them, or an earlier one. */
  firstRow: number;
  /** How much the log had taken when the first of them came. */
  startedAt: number;
  /** Whether their order times ascend. */
  isSorted: boolean;
}

/** A memtableEntry without datapoints. */
export function emptyMemtableEntry(): MemtableEntry {
  return {
    columns: noRows(),
    count: 0,
    weight: 0,
    bytes: 0,
    firstRow: 0,
    startedAt: 0,
    isSorted: true,
  };
}

/** Counts datapoints that are in the columns of an entry, and take so many bytes. */
export function enter(
  entry: MemtableEntry,
  batch: ColumnBatch,
  weight: number,
  bytes: number,
): void {
  noteOrder(entry, batch);
  entry.count += batch.count;
  entry.weight += weight;
  entry.bytes += bytes;
}

/** At most so many bytes of datapoints, or one, from the head of an entry, and the others. */
export function partHead(
  entry: MemtableEntry,
  bytesMax: number,
): [head: MemtableEntry, rest: MemtableEntry] {
  const count = rowsWithin(entry.columns, entry.count, bytesMax);
  return count === entry.columns.count ? [entry, emptyMemtableEntry()] : splitEntry(entry, count);
}

/** Joins an entry to the head that it was parted from. */
export const joinHead = (head: MemtableEntry, rest: MemtableEntry): MemtableEntry => ({
  ...head,
  columns: joinRows(head.columns, rest.columns),
  count: head.count + rest.count,
  weight: head.weight + rest.weight,
  bytes: head.bytes + rest.bytes,
  isSorted: false,
});

/** The first `count` datapoints of an entry, and the others with what is staged. */
function splitEntry(
  entry: MemtableEntry,
  count: number,
): [head: MemtableEntry, rest: MemtableEntry] {
  const [columns, others] = splitRows(entry.columns, count);
  const weight = weightOfBatch(columns);
  const bytes = bytesOfRows(columns);
  const rest = {
    columns: others,
    count: entry.count - count,
    weight: entry.weight - weight,
    bytes: entry.bytes - bytes,
  };
  return [
    { ...entry, columns, count, weight, bytes },
    rest.count === 0 ? { ...emptyMemtableEntry(), columns: others } : { ...entry, ...rest },
  ];
}

/** Remembers whether the datapoints that are added next are in order of time, too. */
function noteOrder(memtableEntry: MemtableEntry, { count, times }: ColumnBatch): void {
  let latest = newestOf(memtableEntry);
  for (let row = 0; row < count; row += 1) {
    const time = times[row] ?? 0;
    if (time < latest) memtableEntry.isSorted = false;
    else latest = time;
  }
}

function newestOf({ columns, count }: MemtableEntry): number {
  return count === 0 ? Number.NEGATIVE_INFINITY : timeAt(columns, count - 1);
}
