import { type DomainError, invalid } from '../domain/errors.ts';
import { limits } from '../domain/limits.ts';
import { JsonError, type JsonValue, parseJson, tryJson } from '../lib/json.ts';
import { type ArraySlice, skipWhiteSpace, sliceJsonArray } from '../lib/json-array-slices.ts';
import { withoutStackTraces } from '../lib/stackless.ts';
import {
  type GrowingDatapoints,
  hasValue,
  PushedArray,
  type PushedDatapoints,
} from './datapoint.ts';

const openBracket = 91;
const openBrace = 123;
const valueKey = Buffer.from('"value"');

/** Whether the bytes may be an array of datapoints: any other array is a value by itself. */
export function isArrayOfObjects(bytes: Buffer): boolean {
  const start = skipWhiteSpace(bytes, 0);
  if (bytes[start] !== openBracket) return false;
  return bytes[skipWhiteSpace(bytes, start + 1)] === openBrace || bytes.includes(valueKey);
}

/**
 * Reads an array of datapoints from its bytes in slices, and yields between them so that other work
 * may run. Elements that are no datapoints, no JSON, no UTF-8 or too long are refused by themselves
 * [contract 15]. Throws invalid when the array does not end or something follows it.
 */
export function* readDatapointArray(
  bytes: Buffer,
  options: ArrayOptions,
): Generator<void, PushedDatapoints> {
  const pushed = new PushedArray(options.datapoints);
  const start = skipWhiteSpace(bytes, 0) + 1;
  const others: JsonValue[] = [];
  const isDatapoints = bytes[skipWhiteSpace(bytes, start)] === openBrace;
  let found = isDatapoints;
  for (const slice of slicesOf(bytes, start, options.sliceBytes)) {
    if (slice !== undefined) {
      const elements = wholeSlice(bytes, slice, options);
      if (elements === undefined) yield* readOneByOne(pushed, bytes, slice, options);
      else {
        withoutStackTraces(() => {
          for (const element of elements) pushed.read(element);
        });
      }
      if (!found) {
        found = elements === undefined || elements.some(hasValue);
        if (!found) others.push(...(elements ?? []));
      }
    }
    yield;
  }
  return found ? pushed : { datapoints: [{ value: others }] };
}

/** The elements of a slice that a JSON reader takes as a whole; undefined: one by one. */
function wholeSlice(
  bytes: Buffer,
  { from, to }: ArraySlice,
  { isUtf8, sliceBytes, elementBytesMax, costMax }: ArrayOptions,
): readonly JsonValue[] | undefined {
  // Longer than a slice has to be: its last element is.
  if (to - from - sliceBytes > elementBytesMax) return undefined;
  const element = bytes.subarray(from, to);
  if (!isUtf8(element)) return undefined;
  const text = element.toString();
  // Nothing at all is an element that is missing.
  if (text.trim() === '') return undefined;
  return tryJson(`[${text}]`, limits.jsonDepthMax, costMax) as readonly JsonValue[] | undefined;
}

interface ArrayOptions extends ElementRules {
  readonly sliceBytes: number;
  /** Takes the datapoints; absent: an array does. */
  readonly datapoints?: GrowingDatapoints;
}

interface ElementRules {
  readonly isUtf8: (bytes: Uint8Array) => boolean;
  readonly elementBytesMax: number;
  readonly costMax: number;
  /** The refusal of an element with more bytes. */
  readonly tooLong: (where: string) => DomainError;
}

function* readOneByOne(
  pushed: PushedArray,
  bytes: Buffer,
  slice: ArraySlice,
  rules: ElementRules,
): Generator<void, void> {
  let read = 0;
  for (const element of sliceJsonArray(bytes, slice.from, 0)) {
    if (element !== undefined) {
      withoutStackTraces(() => readAlone(pushed, bytes.subarray(element.from, element.to), rules));
      if (element.to === slice.to) return;
      read += 1;
    }
    if (element === undefined || read % limits.datapointsPerTurn === 0) yield;
  }
}

/** Reads one element from its bytes. */
function readAlone(
  pushed: PushedArray,
  bytes: Buffer,
  { isUtf8, elementBytesMax, costMax, tooLong }: ElementRules,
): void {
  const excerpt = () => bytes.toString('utf8', 0, 4 * limits.refusedExcerptMax).trim();
  const name = `datapoint ${pushed.count + 1}`;
  if (bytes.length > elementBytesMax || !isUtf8(bytes)) {
    const isLong = bytes.length > elementBytesMax;
    pushed.refuse(isLong ? tooLong(` of ${name}`) : invalid(`${name} is not valid UTF-8`), excerpt);
    return;
  }
  try {
    pushed.read(parseJson(bytes.toString(), limits.jsonDepthMax, costMax));
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    pushed.refuse(invalid(`${name} is not valid JSON: ${error.message}`), excerpt);
  }
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

/** How much of a body is read once more to say what is wrong with it. */
const bytesReadAgainMax = 262_144;
const charactersIn = (bytes: Buffer, end: number): number => bytes.toString('utf8', 0, end).length;

/** `offset` is where the text begins in the body, in characters. */
function parse(text: string, offset: () => number): void {
  try {
    parseJson(text, limits.jsonDepthMax);
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    throw invalid(describe(error, offset() + error.position));
  }
}

const describe = ({ problem }: JsonError, position: number): string =>
  `the body is not valid JSON: ${problem} at character ${position + 1}`;
