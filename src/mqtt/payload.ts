import { isUtf8 } from 'node:buffer';
import type { NewDatapoint } from '../domain/datapoints/ingest.ts';
import { invalid } from '../domain/errors.ts';
import { limits } from '../domain/limits.ts';
import { isJsonObject, JsonError, type JsonValue, parseJson } from '../lib/json.ts';
import { readActuatorValue } from '../wire/actuator.ts';
import { readDatapoints } from '../wire/datapoint.ts';
import { createPushByteReader } from '../wire/push-bytes.ts';
import { isRawText } from '../wire/raw-text.ts';
import { bufferOf } from './packets/publish-encoder.ts';

/** What a publish on …/value or …/values holds. */
export interface PublishedValues {
  readonly datapoints: readonly NewDatapoint[];
  /** object: one datapoint as an object, array: several, bare: a value on its own. */
  readonly form: 'object' | 'array' | 'bare';
}

const readPlainPush = createPushByteReader();

/**
 * Reads datapoints as HTTP does [contract 6]: whatever protocol, the same rules. Throws invalid.
 */
export function readPublishedValues(payload: Uint8Array): PublishedValues {
  const plain = readPlainPush(payload);
  if (plain !== undefined) return { datapoints: [plain], form: 'object' };
  const value = readPayload(payload);
  const datapoints = readDatapoints(value);
  if (isJsonObject(value)) return { datapoints, form: 'object' };
  const isArray = Array.isArray(value) && (value.length === 0 || isJsonObject(value[0]));
  return { datapoints, form: isArray ? 'array' : 'bare' };
}

/** What an actuator is to be set to. Throws invalid. */
export function readPublishedSetting(payload: Uint8Array): JsonValue {
  return readActuatorValue(readPayload(payload));
}

/** JSON, or text that is the value itself. */
function readPayload(payload: Uint8Array): JsonValue {
  if (payload.byteLength === 0) throw invalid('the value is missing: the payload is empty');
  if (!isUtf8(payload)) throw invalid('the payload is not valid UTF-8');
  const text = bufferOf(payload).toString('utf8');
  try {
    return parseJson(text, limits.jsonDepthMax);
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    if (isRawText(text)) return text;
    throw invalid(`the payload is not valid JSON: ${error.message}`);
  }
}
