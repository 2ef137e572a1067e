import { crc32 } from 'node:zlib';
import { batchOf, type ColumnBatch } from '../../domain/datapoints/column-batch.ts';
import {
  type ByteSink,
  type ByteSource,
  createSink,
  createSource,
  DamagedBytesError,
  putByte,
  putDouble,
  putText,
  putUint32,
  putVarint,
  takeByte,
  takeCount,
  takeDouble,
  takeText,
  takeUint32,
  takeVarint,
  writtenBytes,
} from './bytes.ts';
import { runAtOnce } from './engine-work.ts';

/** Datapoints of one sensor on their way to disk. */
export interface LoggedPush {
  readonly series: number;
  /** How many datapoints of the sensor were stored before these. */
  readonly sequenceNumber: number;
  readonly batch: ColumnBatch;
  /** Which of them becomes the sensor's last value; absent: none. */
  readonly last?: number | undefined;
}

const version = 1;
/** Bytes of a datapoint with a timestamp and a number, to guess the size. */
const datapointBytes = 18;
const pushBytes = 12;
const hasTimestamp = 1;
/** The datapoint was received together with the one before it. */
const sameReceipt = 2;
const isText = 4;

/** Encodes a batch as bytes that no other code has: version, checksum of the rest, pushes. */
export const encodePushes = (pushes: readonly LoggedPush[]): Uint8Array<ArrayBuffer> =>
  runAtOnce(encodeInSteps(pushes));

const datapointsPerStep = 8_192;

/** The same; yields now and then, for long pushes. */
export function* encodeInSteps(
  pushes: readonly LoggedPush[],
): Generator<void, Uint8Array<ArrayBuffer>> {
  const sink = beginPushes(pushes);
  let receivedAt = Number.NaN;
  for (const push of pushes) {
    const { count } = push.batch;
    putHead(sink, push);
    for (let first = 0; first < count; first += datapointsPerStep) {
      if (first > 0) yield;
      const end = Math.min(first + datapointsPerStep, count);
      receivedAt = putRows(sink, push.batch, first, end, receivedAt);
    }
  }
  return endPushes(sink);
}

const packing = createSink(1_024);

/** A push alone as text, with a character for each byte: the least memory that it can take. */
export function packPush(push: LoggedPush): string {
  packing.length = 0;
  putHead(packing, push);
  putRows(packing, push.batch, 0, push.batch.count, Number.NaN);
  return writtenBytes(packing).toString('latin1');
}

/** The push that packPush wrote. */
export function unpackPush(text: string): LoggedPush {
  const bytes = Buffer.from(text, 'latin1');
  return takePush(createSource(bytes), bytes.length, Number.NaN);
}

function beginPushes(pushes: readonly LoggedPush[]): ByteSink {
  let sizeGuess = 16;
  for (const push of pushes) sizeGuess += pushBytes + push.batch.count * datapointBytes;
  const sink = createSink(sizeGuess);
  putByte(sink, version);
  putUint32(sink, 0);
  putVarint(sink, pushes.length);
  return sink;
}

function putHead(sink: ByteSink, push: LoggedPush): void {
  putVarint(sink, push.series);
  putVarint(sink, push.sequenceNumber);
  putVarint(sink, push.last === undefined ? 0 : push.last + 1);
  putVarint(sink, push.batch.count);
}

function endPushes(sink: ByteSink): Uint8Array<ArrayBuffer> {
  sink.view.setUint32(1, crc32(writtenBytes(sink).subarray(5)), true);
  // A copy beside it would wait for the next collection.
  return new Uint8Array(sink.bytes.buffer.transfer(sink.length));
}

/** The pushes of a batch. Throws DamagedBytesError for anything that encodePushes did not write. */
export function decodePushes(bytes: Uint8Array): LoggedPush[] {
  const source = createSource(bytes);
  const found = takeByte(source);
  if (found !== version) throw new DamagedBytesError(`unknown version ${found}`);
  const checksum = takeUint32(source);
  if (crc32(bytes.subarray(5)) !== checksum) {
    throw new DamagedBytesError('the checksum does not match');
  }
  const pushes: LoggedPush[] = [];
  const count = takeCount(source, bytes.length);
  let receivedAt = Number.NaN;
  for (let at = 0; at < count; at += 1) {
    const push = takePush(source, bytes.length, receivedAt);
    receivedAt = push.batch.received[push.batch.count - 1] ?? receivedAt;
    pushes.push(push);
  }
  return pushes;
}

function takePush(source: ByteSource, countMax: number, receivedBefore: number): LoggedPush {
  const series = takeVarint(source);
  const sequenceNumber = takeVarint(source);
  const last = takeVarint(source) - 1;
  const batch = takeRows(source, takeCount(source, countMax), receivedBefore);
  return { series, sequenceNumber, batch, last: last < 0 ? undefined : last };
}

/** Answers when the last of the rows was received. */
function putRows(
  sink: ByteSink,
  batch: ColumnBatch,
  first: number,
  end: number,
  receivedBefore: number,
): number {
  let receivedAt = receivedBefore;
  for (let row = first; row < end; row += 1) receivedAt = putRow(sink, batch, row, receivedAt);
  return receivedAt;
}

/** Answers when the datapoint was received. */
function putRow(sink: ByteSink, batch: ColumnBatch, row: number, receivedBefore: number): number {
  const receivedAt = batch.received[row] ?? 0;
  const isTimed = batch.timed[row] === 1;
  const text = batch.texts?.[row];
  putByte(
    sink,
    (isTimed ? hasTimestamp : 0) +
      (receivedAt === receivedBefore ? sameReceipt : 0) +
      (text === undefined ? 0 : isText),
  );
  if (isTimed) putDouble(sink, batch.times[row] ?? 0);
  if (receivedAt !== receivedBefore) putDouble(sink, receivedAt);
  if (text === undefined) putDouble(sink, batch.numbers[row] ?? 0);
  else putText(sink, text);
  return receivedAt;
}

function takeRows(source: ByteSource, count: number, receivedBefore: number): ColumnBatch {
  const times = new Float64Array(count);
  const received = new Float64Array(count);
  const timed = new Uint8Array(count);
  const numbers = new Float64Array(count);
  let texts: (string | undefined)[] | undefined;
  let receivedAt = receivedBefore;
  for (let row = 0; row < count; row += 1) {
    const flags = takeByte(source);
    const isTimed = (flags & hasTimestamp) !== 0;
    const timestamp = isTimed ? takeDouble(source) : 0;
    if ((flags & sameReceipt) === 0) receivedAt = takeDouble(source);
    timed[row] = isTimed ? 1 : 0;
    times[row] = isTimed ? timestamp : receivedAt;
    received[row] = receivedAt;
    if ((flags & isText) === 0) {
      numbers[row] = takeDouble(source);
    } else {
      texts ??= new Array<string | undefined>(count).fill(undefined);
      texts[row] = takeText(source);
    }
  }
  return batchOf({ count, times, received, timed, numbers }, texts);
}
