import { invalid } from '../domain/errors.ts';
import { limits } from '../domain/limits.ts';
import { bareKind, failedProbeReason, isNumeral, withoutPadding } from '../lib/bare-value.ts';
import { JsonError, type JsonValue, parseJson } from '../lib/json.ts';

/** A reader of JSON, up to some depth and cost. */
export type ReadText = (text: string, depthMax: number, costMax?: number) => JsonValue;

/** Reads JSON within the limits. Throws DomainError invalid, which says what it is. */
export function readJson(
  text: string,
  what: string,
  read: ReadText = parseJson,
  costMax: number = limits.jsonCostMax,
): JsonValue {
  try {
    return read(text, limits.jsonDepthMax, costMax);
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    throw invalid(`${what} is not valid JSON: ${error.message}`);
  }
}

/**
 * Reads a value that stands outside of JSON [contract 15]: a decimal number as JSON writes it, kept
 * to its last digit, or a text. Throws DomainError invalid for what a failed probe prints.
 */
export function readBareValue(text: string): JsonValue {
  const value = withoutPadding(text);
  const kind = bareKind(value);
  if (kind === 'failed probe') throw invalid(failedProbeReason(value));
  return kind === 'number' ? parseJson(value.trim()) : value;
}

/**
 * Reads a payload that does not say whether it is JSON. Throws JsonError for what begins like JSON
 * and is none, DomainError as readBareValue does.
 */
export function readPayloadValue(text: string, depthMax: number, costMax?: number): JsonValue {
  const value = withoutPadding(text);
  return startsLikeJson(value) ? parseJson(value, depthMax, costMax) : readBareValue(value);
}

/**
 * Reads a body that says it is JSON; old sketches send a bare text so [contract 2]. Throws as
 * readPayloadValue does, and JsonError for a number that is too large.
 */
export function readJsonOrText(text: string, depthMax: number, costMax?: number): JsonValue {
  try {
    return parseJson(text, depthMax, costMax);
  } catch (reason) {
    if (!(reason instanceof JsonError) || !isRawText(text)) throw reason;
    return readBareValue(text);
  }
}

/** Whether a text that is no JSON was meant as a text, and not as JSON or as a number. */
export function isRawText(text: string): boolean {
  const trimmed = text.trim();
  if (startsLikeJson(trimmed) || isNumeral(trimmed)) return false;
  return bareKind(trimmed) !== 'failed probe';
}

const jsonStart = /^\s*(?:["[{]|(?:true|false|null)\s*$)/;
const startsLikeJson = (text: string): boolean => jsonStart.test(text);

/** Drops that of bytes of UTF-8 as withoutPadding does; white space is that of JSON. */
export function bytesWithoutPadding(bytes: Buffer): Buffer {
  const start = byteOrderMarkAt(bytes) ? markBytes.length : 0;
  let end = bytes.length;
  while (end > start && isPaddingByte(bytes[end - 1])) end -= 1;
  return bytes.subarray(start, end);
}

/** The byte order mark in UTF-8. */
export const markBytes = Buffer.from('\u{feff}');

const byteOrderMarkAt = (bytes: Buffer): boolean =>
  bytes.subarray(0, markBytes.length).equals(markBytes);

/** Whether a byte is NUL or white space of JSON. */
export const isPaddingByte = (code: number | undefined): boolean =>
  code === 32 || code === 10 || code === 13 || code === 9 || code === 0;
