import { isUtf8 } from 'node:buffer';
import { type Actor, isImport } from '../domain/actor.ts';
import { payerOf } from '../domain/budgets/payer.ts';
import type { SensorRef } from '../domain/datapoints/datapoint.ts';
import type { NewDatapoint } from '../domain/datapoints/ingest.ts';
import { valueTooLarge } from '../domain/devices/value-size.ts';
import { invalid } from '../domain/errors.ts';
import { limits } from '../domain/limits.ts';
import { createBreather } from '../lib/event-loop.ts';
import { createFairSemaphore } from '../lib/fair-semaphore.ts';
import { JsonError, type JsonValue, parseJson } from '../lib/json.ts';
import { type ArraySlice, skipWhiteSpace, sliceJsonArray } from '../lib/json-array-slices.ts';
import { createCsvPush } from '../wire/csv-datapoints.ts';
import { readDatapoints, readElement } from '../wire/datapoint.ts';
import { isRawText } from '../wire/raw-text.ts';
import type { Spelling } from '../wire/spelling.ts';

/** The body of a push that is too long to be read in one go. */
export interface LargeBody {
  readonly bytes: Buffer;
  readonly type: 'json' | 'text' | 'csv';
}

/** Whose push it is, and where it goes. */
export interface LargePush {
  readonly body: LargeBody;
  readonly actor: Actor;
  readonly sensor: SensorRef;
  readonly spelling: Spelling;
}

/** Takes large pushes in: a few at a time, callers in turn, others served in between. */
export type TakeLargePush = (
  push: LargePush,
  ingest: (datapoints: readonly NewDatapoint[]) => Promise<void>,
) => Promise<void>;

export function createTakeLargePush(options: {
  readonly valueBytesMax: number;
  /** How much is read before others have their turn. */
  readonly sliceBytes?: number;
}): TakeLargePush {
  const { valueBytesMax, sliceBytes = limits.largePushSliceBytes } = options;
  // Read, a body takes up to ten times its length: the others wait as bytes.
  const semaphore = createFairSemaphore(limits.largePushesAtOnce);
  return ({ body, actor, sensor, spelling }, ingest) =>
    semaphore.run(payerOf(actor), async () => {
      const { bytes, type } = withoutMark(body);
      if (!isUtf8(bytes)) throw invalid('the body is not valid UTF-8');
      // Escapes may take three times what they stand for.
      const elementBytesMax = isImport(actor)
        ? limits.valuesBodyBytesMax
        : 4 * valueBytesMax + limits.datapointBytesBesideValue;
      const refuse = () => valueTooLarge(valueBytesMax, '');
      if (type === 'csv') {
        await ingest(await readCsv(bytes.toString(), { sensor, spelling, sliceBytes }));
      } else if (type === 'json' && isArrayOfObjects(bytes)) {
        await ingest(await readArray(bytes, { sliceBytes, elementBytesMax, refuse }));
      } else {
        if (bytes.length > elementBytesMax) throw refuse();
        const text = bytes.toString();
        const isText = type === 'text' || isRawText(text);
        await ingest(readDatapoints(isText ? text : parse(text, 0)));
      }
    });
}

const byteOrderMark = Buffer.from('\u{feff}');

function withoutMark({ bytes, type }: LargeBody): LargeBody {
  const hasMark = bytes.subarray(0, byteOrderMark.length).equals(byteOrderMark);
  return { type, bytes: hasMark ? bytes.subarray(byteOrderMark.length) : bytes };
}

const openBracket = 91;
const openBrace = 123;

/** Any other array is a value by itself. */
function isArrayOfObjects(bytes: Buffer): boolean {
  const start = skipWhiteSpace(bytes, 0);
  if (bytes[start] !== openBracket) return false;
  return bytes[skipWhiteSpace(bytes, start + 1)] === openBrace;
}

async function readArray(
  bytes: Buffer,
  {
    sliceBytes,
    elementBytesMax,
    refuse,
  }: {
    readonly sliceBytes: number;
    readonly elementBytesMax: number;
    readonly refuse: () => Error;
  },
): Promise<readonly NewDatapoint[]> {
  const datapoints: NewDatapoint[] = [];
  const breathe = createBreather();
  const start = skipWhiteSpace(bytes, 0) + 1;
  for (const slice of slicesOf(bytes, start, sliceBytes)) {
    if (slice !== undefined) {
      // Longer than a slice has to be: its last element is.
      const excess = slice.to - slice.from - sliceBytes;
      if (excess > elementBytesMax) throw refuse();
      for (const element of elementsOf(bytes, slice, slice.from === start)) {
        datapoints.push(readElement(element, datapoints.length));
      }
    }
    const pause = breathe();
    if (pause !== undefined) await pause;
  }
  return datapoints;
}

function* slicesOf(
  bytes: Buffer,
  start: number,
  sliceBytes: number,
): Generator<ArraySlice | undefined, void> {
  let from = start;
  try {
    for (const slice of sliceJsonArray(bytes, start, sliceBytes)) {
      yield slice;
      if (slice !== undefined) from = slice.to + 1;
    }
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    // A reader knows better what is wrong, and where; what is too long for it is not finished.
    const rest = bytes.subarray(from);
    if (rest.length > 0 && rest.length <= bytesReadAgainMax) {
      parse(`[${rest.toString()}`, () => charactersIn(bytes, from) - 1);
    }
    throw invalid(describe(error, charactersIn(bytes, error.position)));
  }
}

function elementsOf(
  bytes: Buffer,
  { from, to, isLast }: ArraySlice,
  isFirst: boolean,
): readonly JsonValue[] {
  const text = bytes.toString('utf8', from, to);
  if (text.trim() === '' && !(isFirst && isLast)) {
    const error = new JsonError(`unexpected "${isLast ? ']' : ','}"`, to);
    throw invalid(describe(error, charactersIn(bytes, to)));
  }
  // The bracket before it stands in the place of what came before the slice.
  return parse(`[${text}]`, () => charactersIn(bytes, from) - 1) as readonly JsonValue[];
}

/** What is read once more to say what is wrong with it. */
const bytesReadAgainMax = 262_144;

const charactersIn = (bytes: Buffer, end: number): number => bytes.toString('utf8', 0, end).length;

/** `offset` is where the text begins in the body, in characters. */
function parse(text: string, offset: number | (() => number)): JsonValue {
  try {
    return parseJson(text, limits.jsonDepthMax);
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    const before = typeof offset === 'number' ? offset : offset();
    throw invalid(describe(error, before + error.position));
  }
}

const describe = ({ problem }: JsonError, position: number): string =>
  `the body is not valid JSON: ${problem} at character ${position + 1}`;

async function readCsv(
  text: string,
  {
    sensor,
    spelling,
    sliceBytes,
  }: { readonly sensor: SensorRef; readonly spelling: Spelling; readonly sliceBytes: number },
): Promise<readonly NewDatapoint[]> {
  const csv = createCsvPush(sensor, spelling);
  const breathe = createBreather();
  for (let at = 0; at < text.length; at += sliceBytes) {
    csv.push(text.slice(at, at + sliceBytes));
    const pause = breathe();
    if (pause !== undefined) await pause;
  }
  return csv.end();
}
