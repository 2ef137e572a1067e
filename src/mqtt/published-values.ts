import type { Actor } from '../domain/actor.ts';
import { lastAmong, type SensorRef } from '../domain/datapoints/datapoint.ts';
import type { Ingest } from '../domain/datapoints/ingest.ts';
import type { NewDatapoint } from '../domain/datapoints/new-datapoint.ts';
import type { RefusedPushes } from '../domain/datapoints/refused-pushes.ts';
import { limits } from '../domain/limits.ts';
import type { Message } from '../domain/messaging/message.ts';
import { runInSteps } from '../lib/event-loop.ts';
import type { TakeLargePush } from '../wire/large-push.ts';
import { acceptedByService, type PublishOutcome } from './broker-hooks.ts';
import { MqttPublishContext } from './live-message.ts';
import { bufferOf } from './packets/publish-encoder.ts';
import { type PublishedValues, publishedForm, readPublishedValues } from './payload.ts';

/** Where published values go. */
export interface ValueParts {
  readonly ingest: Ingest;
  /** Takes long payloads in, alternating with those of HTTP. */
  readonly takeLargePush: TakeLargePush;
  /** Records what was refused, so that its owner may read why nothing arrives. */
  readonly refusedPushes: Pick<RefusedPushes, 'note'>;
}

/** Reads and stores a long payload, with other work in between; answers its values. */
export async function storeLong(
  { ingest, takeLargePush }: ValueParts,
  actor: Actor,
  sensor: SensorRef,
  message: Message,
): Promise<PublishedValues> {
  const bytes = bufferOf(message.payload);
  let values: PublishedValues = { datapoints: [], form: 'array' };
  const push = { body: { bytes, type: 'none' }, actor, sensor, csv: {} } as const;
  await takeLargePush(push, (pushed) => {
    const { datapoints, refused } = pushed;
    values = { ...pushed, form: publishedForm(bytes, pushed) };
    return ingest(actor, sensor, datapoints, new MqttPublishContext(message, values), refused);
  });
  return values;
}

/** Stores the values of a short payload, and answers them. */
export async function storeShort(
  { ingest }: ValueParts,
  actor: Actor,
  sensor: SensorRef,
  message: Message,
): Promise<PublishedValues> {
  const values = readPublishedValues(message.payload);
  const sent = new MqttPublishContext(message, values);
  await ingest(actor, sensor, values.datapoints, sent, values.refused);
  return values;
}

/** Records the refused elements of an array whose other ones were stored. */
export function noteRefused(
  by: Pick<ValueParts, 'refusedPushes'> & { readonly actor: Actor; readonly sensor: SensorRef },
  { topic: path }: Message,
  { refused }: PublishedValues,
): PublishOutcome {
  const { refusedPushes, actor, sensor } = by;
  if (refused === undefined || refused.count === 0) return acceptedByService;
  const about = { via: 'mqtt', code: 'invalid', actor, ...sensor, path, refused } as const;
  void refusedPushes.note(about);
  return acceptedByService;
}

/** Which of those that were not refused becomes the last value. */
export const lastTaken = (values: PublishedValues): Promise<NewDatapoint | undefined> =>
  runInSteps(lastInSteps(values));

/** As `lastAmong` has it, a few at a time. */
function* lastInSteps({
  datapoints,
  refused,
}: PublishedValues): Generator<void, NewDatapoint | undefined> {
  let [newest, last]: [NewDatapoint | undefined, NewDatapoint | undefined] = [undefined, undefined];
  let isTimed = true;
  for (let at = 0; at < datapoints.length; at += 1) {
    const datapoint = datapoints.at(at);
    if (at % limits.datapointsPerTurn === 0) yield;
    if (datapoint === undefined || refused?.has(at) === true) continue;
    isTimed &&= datapoint.timestamp !== undefined;
    last = datapoint;
    if (isTimed) newest = lastAmong(newest === undefined ? [datapoint] : [newest, datapoint]);
  }
  return isTimed ? newest : last;
}
