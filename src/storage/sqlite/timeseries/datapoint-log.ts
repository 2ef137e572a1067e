import { crc32 } from 'node:zlib';
import type { Datapoint } from '../../../domain/datapoints/datapoint.ts';
import { parseJson } from '../../../lib/json.ts';
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
} from '../../chunks/bytes.ts';

/** Datapoints of one sensor on their way to disk. */
export interface LoggedPush {
  readonly series: number;
  /** How many datapoints of the sensor were stored before these. */
  readonly sequenceNumber: number;
  readonly datapoints: readonly Datapoint[];
  /** Which of them becomes the sensor's last value; absent: none. */
  readonly last?: number;
}

const version = 1;
/** What a datapoint with a timestamp and a number takes, to guess the size. */
const datapointBytes = 18;
const pushBytes = 12;

const hasTimestamp = 1;
/** The datapoint was received together with the one before it. */
const sameReceipt = 2;
const isText = 4;

/** One batch as bytes that nobody else holds: version, checksum of the rest, pushes. */
export function encodePushes(pushes: readonly LoggedPush[]): Uint8Array<ArrayBuffer> {
  const sink = beginPushes(pushes);
  let receivedAt = Number.NaN;
  for (const push of pushes) {
    putHead(sink, push);
    for (const datapoint of push.datapoints) {
      putDatapoint(sink, datapoint, receivedAt);
      receivedAt = datapoint.receivedAt;
    }
  }
  return endPushes(sink);
}

const datapointsPerStep = 8_192;

/** The same; yields now and then, for long pushes. */
export function* encodeInSteps(
  pushes: readonly LoggedPush[],
): Generator<void, Uint8Array<ArrayBuffer>> {
  const sink = beginPushes(pushes);
  let receivedAt = Number.NaN;
  for (const push of pushes) {
    putHead(sink, push);
    let written = 0;
    for (const datapoint of push.datapoints) {
      putDatapoint(sink, datapoint, receivedAt);
      receivedAt = datapoint.receivedAt;
      written += 1;
      if (written % datapointsPerStep === 0) yield;
    }
  }
  return endPushes(sink);
}

function beginPushes(pushes: readonly LoggedPush[]): ByteSink {
  let sizeGuess = 16;
  for (const push of pushes) sizeGuess += pushBytes + push.datapoints.length * datapointBytes;
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
  putVarint(sink, push.datapoints.length);
}

function endPushes(sink: ByteSink): Uint8Array<ArrayBuffer> {
  const bytes = Uint8Array.from(writtenBytes(sink));
  new DataView(bytes.buffer).setUint32(1, crc32(bytes.subarray(5)), true);
  return bytes;
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
  for (let push = 0; push < count; push += 1) {
    const series = takeVarint(source);
    const sequenceNumber = takeVarint(source);
    const last = takeVarint(source) - 1;
    const datapoints: Datapoint[] = [];
    for (let left = takeCount(source, bytes.length); left > 0; left -= 1) {
      const datapoint = takeDatapoint(source, receivedAt);
      receivedAt = datapoint.receivedAt;
      datapoints.push(datapoint);
    }
    pushes.push({ series, sequenceNumber, datapoints, ...(last < 0 ? {} : { last }) });
  }
  return pushes;
}

function putDatapoint(sink: ByteSink, datapoint: Datapoint, receivedBefore: number): void {
  const { value, timestamp, receivedAt } = datapoint;
  const isNumber = typeof value === 'number';
  putByte(
    sink,
    (timestamp === undefined ? 0 : hasTimestamp) +
      (receivedAt === receivedBefore ? sameReceipt : 0) +
      (isNumber ? 0 : isText),
  );
  if (timestamp !== undefined) putDouble(sink, timestamp);
  if (receivedAt !== receivedBefore) putDouble(sink, receivedAt);
  if (isNumber) putDouble(sink, value);
  else putText(sink, JSON.stringify(value));
}

function takeDatapoint(source: ByteSource, receivedBefore: number): Datapoint {
  const flags = takeByte(source);
  const timestamp = (flags & hasTimestamp) === 0 ? undefined : takeDouble(source);
  const receivedAt = (flags & sameReceipt) === 0 ? takeDouble(source) : receivedBefore;
  const value = (flags & isText) === 0 ? takeDouble(source) : parseJson(takeText(source));
  return timestamp === undefined ? { value, receivedAt } : { value, timestamp, receivedAt };
}
