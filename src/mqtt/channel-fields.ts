import { type Actor, onlyDeviceOf } from '../domain/actor.ts';
import type { Ingest } from '../domain/datapoints/ingest.ts';
import type { RefusedPushes } from '../domain/datapoints/refused-pushes.ts';
import { DomainError, type ErrorCode } from '../domain/errors.ts';
import { parseDeviceId } from '../domain/ids.ts';
import type { Message } from '../domain/messaging/message.ts';
import { given, readForm, readUpdate } from '../wire/thing-speak.ts';
import { bufferOf } from './packets/packet-encoder.ts';

/** Stores the fields of a channel of ThingSpeak; one that cannot be is refused alone. */
export async function storeFields(
  parts: { readonly ingest: Ingest; readonly refusedPushes: Pick<RefusedPushes, 'note'> },
  target: { readonly actor: Actor; readonly channelId: string; readonly field?: string },
  { payload: sent, topic }: Message,
): Promise<void> {
  const { actor, channelId, field } = target;
  const deviceId = onlyDeviceOf(actor) ?? parseDeviceId(channelId);
  const about = { via: 'mqtt', actor, deviceId, path: topic.replace(keyAtEnd, ''), sent } as const;
  const note = (error: DomainError, sensor = {}) =>
    void parts.refusedPushes.note({ ...about, ...sensor, code: error.code, error });
  const fields = readFields(bufferOf(sent), field);
  if (fields instanceof DomainError) {
    note(fields);
    throw fields;
  }
  let isStored = false;
  let refusal: DomainError | undefined;
  for (const [sensorId, datapoint] of fields) {
    try {
      if (datapoint instanceof DomainError) throw datapoint;
      await parts.ingest(actor, { deviceId, sensorId }, [datapoint]);
      isStored = true;
    } catch (error) {
      if (!(error instanceof DomainError)) throw error;
      note(error, { sensorId });
      if (sentAgain.has(error.code)) throw error;
      refusal ??= error;
    }
  }
  if (!isStored && refusal !== undefined) throw refusal;
}

/** Codes of refusals after which the client is to send the whole again. */
const sentAgain: ReadonlySet<ErrorCode> = new Set([
  'rate_limited',
  'limit_reached',
  'storage_full',
  'unavailable',
]);

/** A key that clients of ThingSpeak put behind the topic: owners of devices are not to see it. */
const keyAtEnd = /\/kpk_[^/]*$/;

function readFields(payload: Buffer, field: string | undefined) {
  try {
    return readUpdate(
      field === undefined ? readForm(payload) : given([[field, payload.toString()]]),
    );
  } catch (error) {
    if (error instanceof DomainError) return error;
    throw error;
  }
}
