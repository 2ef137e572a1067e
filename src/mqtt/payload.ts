import { isUtf8 } from 'node:buffer';
import { invalid } from '../domain/errors.ts';
import { limits } from '../domain/limits.ts';
import { withoutPadding } from '../lib/bare-value.ts';
import { isJsonObject, JsonError, type JsonValue } from '../lib/json.ts';
import { readActuatorValue } from '../wire/actuator.ts';
import { bytesWithoutPadding, readPayloadValue } from '../wire/bare-value.ts';
import { bareNumberOf, createPushByteReader } from '../wire/byte-cursor.ts';
import { type PushedDatapoints, readDatapoints } from '../wire/datapoint.ts';
import { isArrayOfObjects, readDatapointArray } from '../wire/datapoint-array.ts';
import { bufferOf } from './packets/packet-encoder.ts';

/** Datapoints of a publish on …/value or …/values. */
export interface PublishedValues extends PushedDatapoints {
  /** object: one datapoint as an object, array: several, bare: a value on its own. */
  readonly form: 'object' | 'array' | 'bare';
}

/** Whether the payload is read in slices, with other work in between. */
export const isLongPayload = ({ length }: Uint8Array): boolean => length > limits.largePushBytesMin;

/** The form of a long payload. */
export function publishedForm(
  bytes: Buffer,
  { refused }: PushedDatapoints,
): PublishedValues['form'] {
  if (refused !== undefined) return 'array';
  return bytesWithoutPadding(bytes).toString('latin1', 0, 64).trimStart().startsWith('{')
    ? 'object'
    : 'bare';
}

const readPlainPush = createPushByteReader();

/**
 * Reads datapoints as HTTP does [contract 6]: whatever protocol, the same rules. Throws invalid.
 */
export function readPublishedValues(payload: Uint8Array): PublishedValues {
  const plain = readPlainPush(payload);
  if (plain !== undefined) return { datapoints: [plain], form: 'object' };
  const bare = bareNumberOf(payload);
  if (!Number.isNaN(bare)) return { datapoints: [{ value: bare }], form: 'bare' };
  let value: JsonValue;
  try {
    value = readPayload(payload);
  } catch (error) {
    const bytes = bytesWithoutPadding(bufferOf(payload));
    if (!isArrayOfObjects(bytes)) throw error;
    return { ...readOneByOne(bytes), form: 'array' };
  }
  const pushed = readDatapoints(value);
  if (isJsonObject(value)) return { ...pushed, form: 'object' };
  const isArray = Array.isArray(value) && (value.length === 0 || pushed.refused !== undefined);
  return { ...pushed, form: isArray ? 'array' : 'bare' };
}

/** An array with an element that is no JSON: the others are stored [contract 15]. */
function readOneByOne(bytes: Buffer): PushedDatapoints {
  const { length } = bytes;
  const tooLong = () => invalid('the payload is too long');
  const steps = readDatapointArray(bytes, {
    ...{ isUtf8, tooLong, costMax: limits.jsonCostMax },
    sliceBytes: length,
    elementBytesMax: length,
  });
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

/** Reads the value that an actuator is to be set to. Throws invalid. */
export function readPublishedSetting(payload: Uint8Array): JsonValue {
  return readActuatorValue(readPayload(payload));
}

/** JSON, or a bare value. */
function readPayload(payload: Uint8Array): JsonValue {
  if (!isUtf8(payload)) throw invalid('the payload is not valid UTF-8');
  const text = withoutPadding(bufferOf(payload).toString('utf8'));
  if (text === '') throw invalid('the value is missing: the payload is empty');
  try {
    return readPayloadValue(text, limits.jsonDepthMax, limits.jsonCostMax);
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    throw invalid(`the payload is not valid JSON: ${error.message}`);
  }
}
