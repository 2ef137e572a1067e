import { isUtf8 } from 'node:buffer';
import type { TSchema } from 'typebox';
import type { NewDatapoint } from '../domain/datapoints/new-columns.ts';
import { invalid } from '../domain/errors.ts';
import { limits } from '../domain/limits.ts';
import { withoutPadding } from '../lib/bare-value.ts';
import { csvLimits } from '../lib/csv-reader.ts';
import { JsonCostError, JsonError, type JsonValue, parseJson } from '../lib/json.ts';
import {
  bytesWithoutPadding,
  isRawText,
  type ReadText,
  readJsonOrText,
  readPayloadValue,
} from '../wire/bare-value.ts';
import { createPushByteReader } from '../wire/byte-cursor.ts';
import { isArrayOfObjects } from '../wire/datapoint-array.ts';
import type { LargeBody } from '../wire/large-push.ts';
import type { Reader } from '../wire/validation.ts';
import { readStreamBody } from './body-reader.ts';
import { EdgeError } from './errors.ts';

/** A bare value: the body of a single-field PUT, as text or JSON [spec 4, contract 2]. */
export interface BareBody {
  readonly text: string;
  readonly isJson: boolean;
}

function mediaType(contentType: string | undefined): 'json' | 'text' | 'csv' | 'none' | 'other' {
  if (contentType === undefined || contentType === '') return 'none';
  if (contentType === 'application/json') return 'json';
  const [type = ''] = contentType.split(';');
  const name = type.trim().toLowerCase();
  if (name === 'application/json' || name.endsWith('+json')) return 'json';
  if (name === 'text/csv') return 'csv';
  return name === 'text/plain' ? 'text' : 'other';
}

/** A JSON message. */
function readJsonBody(body: unknown, contentType: string | undefined): unknown {
  const type = mediaType(contentType);
  if (type !== 'json' && type !== 'none') throw unsupported(contentType, 'application/json');
  const text = decode(body, contentType);
  if (text === '') throw invalid('the body is empty: send a JSON object');
  return parse(text);
}

/** A CSV, in whatever encoding. */
function readCsvBody(body: unknown, contentType: string | undefined): Uint8Array {
  if (mediaType(contentType) !== 'csv') throw unsupported(contentType, 'text/csv');
  if (Buffer.isBuffer(body) && body.length > 0) return body;
  throw invalid('the body is empty: send rows below the names of their columns');
}

/** The content of a push. */
export type PushBody =
  /** A single number, read from its bytes. */
  | { readonly kind: 'plain'; readonly datapoint: NewDatapoint }
  | { readonly kind: 'json'; readonly value: JsonValue }
  | { readonly kind: 'csv'; readonly bytes: Uint8Array }
  /** Too long to be read in one go, or an array with an element that is no JSON. */
  | { readonly kind: 'large'; readonly body: LargeBody };

const readPlainPush = createPushByteReader();

/** Reads a push: JSON kept to the last digit, text, which is the value itself, or CSV. */
export function readPushBody(body: unknown, contentType: string | undefined): PushBody {
  const type = mediaType(contentType);
  if (type === 'other') throw unsupported(contentType, 'application/json, text/plain or text/csv');
  if (Buffer.isBuffer(body) && (type === 'json' || type === 'none')) {
    const datapoint = readPlainPush(body);
    if (datapoint !== undefined) return { kind: 'plain', datapoint };
  }
  const bytesAtOnce = type === 'csv' ? csvLimits.csvSliceBytes : limits.largePushBytesMin;
  if (Buffer.isBuffer(body) && body.length > bytesAtOnce) {
    return { kind: 'large', body: { bytes: body, type } };
  }
  try {
    if (type === 'csv' && Buffer.isBuffer(body) && bytesWithoutPadding(body).length > 0) {
      return { kind: 'csv', bytes: body };
    }
    const text = decode(body, contentType);
    if (text === '') throw invalid('the value is missing: the body is empty');
    if (type === 'text') return { kind: 'json', value: text };
    const read = type === 'json' ? readJsonOrText : readPayloadValue;
    return { kind: 'json', value: parse(text, read) };
  } catch (error) {
    if (!Buffer.isBuffer(body) || type === 'text') throw error;
    const bytes = bytesWithoutPadding(body);
    // Valid elements are stored [contract 15]: the reader of large bodies reads them one by one.
    if (!isArrayOfObjects(bytes)) throw error;
    return { kind: 'large', body: { bytes, type } };
  }
}

/** A bare value that is to be read as text or as JSON, whatever the field needs. */
function readBareBody(body: unknown, contentType: string | undefined): BareBody {
  const type = mediaType(contentType);
  if (type === 'other' || type === 'csv') {
    throw unsupported(contentType, 'text/plain or application/json');
  }
  const text = decode(body, contentType);
  if (text === '') throw invalid('the body is empty: send the new value as the body');
  return { text, isJson: type === 'json' };
}

/**
 * The text of a bare value; undefined when it is a JSON null, which removes the field. Where a text
 * is expected, digits under a JSON type are raw text too: 0012 keeps its zeros.
 */
export function bareText(body: BareBody): string | undefined {
  const trimmed = body.text.trim();
  if (!body.isJson || (!/^["[{]/.test(trimmed) && trimmed !== 'null')) return body.text;
  const value = parse(body.text);
  if (value === null) return undefined;
  if (typeof value === 'string') return value;
  throw invalid('the body must be a text, not an object or array');
}

/** The JSON value of a bare value; under text/plain, a text that is no JSON is itself. */
export function bareJson(body: BareBody): JsonValue {
  try {
    return parse(body.text, body.isJson ? parseJson : readPayloadValue);
  } catch (error) {
    if (body.isJson && !isRawText(body.text)) throw error;
    return body.text;
  }
}

/** The JSON value of a body that need not be there, nor be JSON; then it is undefined. */
function readOptionalBody(body: unknown): JsonValue | undefined {
  if (!Buffer.isBuffer(body) || body.length === 0 || !isUtf8(body)) return undefined;
  try {
    return parseJson(decode(body), limits.jsonDepthMax, limits.jsonCostMax);
  } catch (error) {
    if (error instanceof JsonError) return undefined;
    throw error;
  }
}

/** Names of Windows-1252 and of ISO 8859-1, which is a part of it [WHATWG Encoding 4.2]. */
const latinCharset = /;[\t ]*charset[\t ]*=[\t ]*"?(?:iso-8859-1|latin-?1|(?:windows|cp)-?1252)\b/i;

function decode(body: unknown, contentType = ''): string {
  if (!Buffer.isBuffer(body)) return '';
  if (isUtf8(body)) return withoutPadding(body.toString('utf8'));
  if (!latinCharset.test(contentType)) throw invalid('the body is not valid UTF-8');
  return withoutPadding(new TextDecoder('windows-1252').decode(body));
}

function parse(text: string, read: ReadText = parseJson): JsonValue {
  try {
    return read(text, limits.jsonDepthMax, limits.jsonCostMax);
  } catch (error) {
    if (error instanceof JsonCostError) throw invalid(`the body has ${error.problem}`);
    if (!(error instanceof JsonError)) throw error;
    throw invalid(`the body is not valid JSON: ${error.message}`);
  }
}

function unsupported(contentType: string | undefined, expected: string): EdgeError {
  const given = (contentType ?? '').slice(0, 60);
  const problem = given === '' ? 'is missing' : `${given} is not read here`;
  return new EdgeError(
    'unsupported_media_type',
    `the content type ${problem}: send Content-Type: ${expected}`,
  );
}

/**
 * The kinds of bodies. json: a message; push: datapoints; bare: one field's new value; csv: rows;
 * stream: piece by piece, by the handler, however long it is; optional: a JSON value, or nothing.
 */
type BodyKind = 'json' | 'push' | 'bare' | 'csv' | 'stream' | 'optional';

/** Notes on a body besides its kind and its schema. */
interface BodyNotes {
  readonly bytesMax?: number;
  /** The usual message, for the reference; absent: `schema`. */
  readonly documented?: TSchema;
  /** For the reference, where it is not the usual one of the kind. */
  readonly contentType?: string;
}

/** A body as data. */
export interface RouteBody extends BodyNotes {
  readonly kind: BodyKind;
  readonly schema: TSchema;
  /** Parser of the sent body: makes what `read` is given. */
  readonly parse: (body: unknown, contentType: string | undefined) => unknown;
}

/** A body with the reader that makes what the handler is given. Readers throw DomainError. */
export interface ReadBody<Value> extends RouteBody {
  readonly read: (sent: unknown) => Value;
}

const bodyOf =
  <Sent>(kind: BodyKind, parse: (body: unknown, contentType: string | undefined) => Sent) =>
  <Value>(schema: TSchema, read: (sent: Sent) => Value, notes?: BodyNotes): ReadBody<Value> => ({
    ...{ kind, schema, parse, ...notes },
    // The route is handed what `parse` made of a body of this kind, in the words of version 2.
    read: (sent) => read(sent as Sent),
  });

export const jsonBody = bodyOf('json', readJsonBody);
/** A JSON message that its reader describes. */
export const messageBody = <Value>(read: Reader<Value>): ReadBody<Value> =>
  jsonBody(read.schema, read);
export const pushBody = bodyOf('push', readPushBody);
export const bareBody = bodyOf('bare', readBareBody);
export const csvBody = bodyOf('csv', readCsvBody);
export const streamBody = bodyOf('stream', readStreamBody);
export const optionalBody = bodyOf('optional', readOptionalBody);
/** The reader of a body whose handler reads it. */
export const asSent = <Value>(sent: Value): Value => sent;
