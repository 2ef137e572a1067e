import type { Actor } from '../domain/actor.ts';
import { lastAmong, type SensorRef } from '../domain/datapoints/datapoint.ts';
import type { Ingest } from '../domain/datapoints/ingest.ts';
import type { NewDatapoint } from '../domain/datapoints/new-columns.ts';
import type { Peers } from '../domain/datapoints/peers.ts';
import type { RefusedPushes } from '../domain/datapoints/refused-pushes.ts';
import type { Actuators } from '../domain/devices/actuators.ts';
import { DomainError, type ErrorCode } from '../domain/errors.ts';
import type { ActuatorId, DeviceId } from '../domain/ids.ts';
import { limits } from '../domain/limits.ts';
import type { DeviceTopics, TopicOwner } from '../domain/messaging/device-topics.ts';
import { bytesOfMessage, type Message } from '../domain/messaging/message.ts';
import type { Reporter } from '../domain/reporter.ts';
import { runInSteps } from '../lib/event-loop.ts';
import type { JsonValue } from '../lib/json.ts';
import type { Log } from '../lib/log.ts';
import { readConfirmed } from '../wire/actuator.ts';
import type { TakeLargePush } from '../wire/large-push.ts';
import { writeTalk } from './broker/talk.ts';
import {
  acceptedByService,
  acceptedToPassOn,
  type PublishOutcome,
  type PublishRefusal,
  unavailableOutcome,
} from './broker.ts';
import { storeFields } from './channel-fields.ts';
import { datapointMessage, MqttPublishContext, settingMessage } from './deliveries.ts';
import { bufferOf } from './packets/packet-encoder.ts';
import { userPropertyOf } from './packets/properties.ts';
import {
  isLongPayload,
  type PublishedValues,
  publishedForm,
  readPublishedSetting,
  readPublishedValues,
} from './payload.ts';
import { type Target, valueTopic } from './topics.ts';

export interface PublishOptions extends ValueParts {
  readonly actuators: Actuators;
  readonly deviceTopics: DeviceTopics;
  readonly readTopic: (topic: string) => Target;
  /** Keeps a message for later subscribers; without a payload: forgets it. */
  readonly retain: (message: Message) => Promise<void>;
  readonly reporter: Reporter;
  readonly log: Log;
  /** Receive what is handed on without being stored. Absent: no other process serves. */
  readonly peers?: Pick<Peers, 'tell' | 'origin' | 'heardBefore'> | undefined;
}

/** Hands what a client publishes to the ingest path; never rejects. */
export type Publish = (actor: Actor, message: Message) => Promise<PublishOutcome>;

/**
 * The ingest path for MQTT: values are stored before they are acknowledged, and reach subscribers
 * by the watch; what is not allowed, malformed or unknown is acknowledged and dropped [contract 8].
 */
export function createPublish(options: PublishOptions): Publish {
  const { ingest, actuators, deviceTopics, readTopic, retain } = options;
  const { refusedPushes, reporter } = options;

  /** As most publishes: fewer promises and functions for each than `await` would make. */
  function storeValues(actor: Actor, sensor: SensorRef, message: Message): Promise<PublishOutcome> {
    const { payload } = message;
    const values = isLongPayload(payload) ? undefined : readPublishedValues(payload);
    if (values === undefined || values.refused !== undefined) {
      return storeNoting(actor, sensor, message, values);
    }
    const sent = new MqttPublishContext(message, values);
    return ingest(actor, sensor, values.datapoints, sent).then(accept, (error: unknown) =>
      outcomeOf(error, actor, message),
    );
  }

  /** Stores a long payload, or an array of which some elements may be refused. */
  function storeNoting(
    actor: Actor,
    sensor: SensorRef,
    message: Message,
    values: PublishedValues | undefined,
  ): Promise<PublishOutcome> {
    const stored =
      values === undefined
        ? storeLong(options, actor, sensor, message)
        : storeShort(options, actor, sensor, message, values);
    return stored.then(
      (taken) => noteRefused({ refusedPushes, actor, sensor }, message, taken),
      (error: unknown) => outcomeOf(error, actor, message),
    );
  }

  async function retainValues(actor: Actor, sensor: SensorRef, message: Message): Promise<void> {
    const topic = valueTopic(sensor);
    if (isClearing(message)) {
      await ingest(actor, sensor, []);
      await deviceTopics.requireClearing(actor, sensor.deviceId);
      await retain({ ...message, topic });
      return;
    }
    const store = isLongPayload(message.payload) ? storeLong : storeShort;
    const values = await store(options, actor, sensor, message);
    noteRefused({ refusedPushes, actor, sensor }, message, values);
    const last = await lastTaken(values);
    if (last !== undefined) {
      const publishContext = new MqttPublishContext(message, values);
      await retainFor(options, datapointMessage(topic, last, publishContext), () =>
        ingest(actor, sensor, []),
      );
    }
  }

  async function set(
    actor: Actor,
    { deviceId, actuatorId }: { readonly deviceId: DeviceId; readonly actuatorId: ActuatorId },
    message: Message,
  ): Promise<void> {
    if (isClearing(message)) {
      await actuators.requireSettable(actor, deviceId, actuatorId);
      await retain(message);
      return;
    }
    const value = readPublishedSetting(message.payload);
    const confirmed = confirmedBy(message, value);
    if (confirmed !== undefined) {
      return actuators.confirm(actor, deviceId, actuatorId, confirmed.value);
    }
    const publishContext = new MqttPublishContext(message, { datapoints: [], form: 'bare' });
    await actuators.setValue(actor, deviceId, actuatorId, value, { publishContext });
    if (!message.retain) return;
    await retainFor(options, settingMessage(message.topic, value, publishContext), () =>
      actuators.requireSettable(actor, deviceId, actuatorId),
    );
  }

  async function passOn(actor: Actor, owner: TopicOwner, message: Message) {
    if (!(await deviceTopics.may(actor, owner)))
      return refuse('not_authorized', `you may not update this ${owner.kind}`);
    if (await tellOthers(options, message)) return acceptedToPassOn;
    // Who told it may have ended before it was retained.
    if (message.retain) await retain(message);
    return acceptedByService;
  }

  function refuse(reason: PublishRefusal, description: string): PublishOutcome {
    reporter.publishRefused(reason);
    return { kind: 'refused', reason, description };
  }

  async function take(actor: Actor, target: Target, message: Message): Promise<PublishOutcome> {
    switch (target.kind) {
      case 'datapoints':
        await retainValues(actor, target.sensor, message);
        return acceptedByService;
      case 'actuator':
        await set(actor, target, message);
        return acceptedByService;
      case 'channel':
        await storeFields(options, { actor, ...target }, message);
        return acceptedByService;
      case 'device_topic': {
        const outcome = await passOn(actor, target.owner, message);
        if (outcome.kind === 'accepted') noteLikeness(refusedPushes, actor, target, message);
        return outcome;
      }
      case 'system':
        return refuse('not_authorized', 'nobody publishes below $SYS');
      case 'nothing':
        void refusedPushes.note({
          ...{ via: 'mqtt', code: 'wrong_path', actor, path: message.topic },
          description: topicWanted,
        });
        return refuse('topic_invalid', topicWanted);
    }
  }

  function outcomeOf(error: unknown, actor: Actor, message: Message): PublishOutcome {
    if (!(error instanceof DomainError)) {
      // Acknowledged all the same: a client would send what meets a bug for ever.
      options.log.error({ err: error, topic: message.topic }, 'a publish met a bug');
      return refuse('payload_invalid', 'internal error');
    }
    const target = readTopic(message.topic);
    if (target.kind === 'datapoints') {
      const { topic: path, payload: sent } = message;
      const about = { code: error.code, path, sent, error, actor, ...target.sensor };
      void refusedPushes.note({ via: 'mqtt', ...about });
    }
    const reason = refusalOf[error.code];
    if (reason !== 'unavailable') return refuse(reason, error.message);
    reporter.publishRefused('unavailable');
    return unavailableOutcome;
  }

  return (actor, message) => {
    try {
      const target = readTopic(message.topic);
      return target.kind === 'datapoints' && !message.retain
        ? storeValues(actor, target.sensor, message)
        : take(actor, target, message).catch((error: unknown) => outcomeOf(error, actor, message));
    } catch (error) {
      return Promise.resolve(outcomeOf(error, actor, message));
    }
  };
}

const likeValues = /^devices\/[^/]+\/sensors\//;
const topicWanted = 'publish on devices/{id}/sensors/{id}/value';

/** What is below a sensor and no value is passed on, and its sender may wait for it in vain. */
function noteLikeness(
  refusedPushes: Pick<RefusedPushes, 'note'>,
  actor: Actor,
  { owner }: { readonly owner: TopicOwner },
  message: Message,
): void {
  const { topic: path, payload: sent } = message;
  if (!likeValues.test(path)) return;
  const about = { code: 'wrong_path', description: topicWanted, deviceId: owner.id as DeviceId };
  void refusedPushes.note({ via: 'mqtt', ...about, actor, path, sent });
}

/**
 * Publishes to other processes: their subscribers get acknowledged messages; QoS 0 may be lost.
 * False: that was done before.
 */
async function tellOthers(
  { peers, reporter }: Pick<PublishOptions, 'peers' | 'reporter'>,
  message: Message,
): Promise<boolean> {
  if (peers === undefined) return true;
  const { tell, origin, heardBefore } = peers;
  const { willTurn: turn, publisher: key, packetId, payer = '', topic, retain } = message;
  const ofWill = turn !== undefined && key !== undefined;
  const ofId = packetId !== undefined && key !== undefined;
  // In the order of commits: who has heard one has heard those before it. At QoS 0 it is handed on
  // here before, by its name, and no session keeps it.
  const text = (): string => {
    // A commit that is made again has the name of before: somebody may have read it.
    message.origin ??= origin();
    const { willTurn: _, ...said } = message;
    return writeTalk({ kind: 'message', message: said });
  };
  const told = {
    ...{ payer, bytes: topic.length + 2 * bytesOfMessage(message) },
    // In one commit: a process that is killed behind it leaves no will to publish again.
    settled: ofWill ? { key, turn, isRetained: retain } : undefined,
    receivedAs: ofId ? { session: key, packetId, retain } : undefined,
  };
  if (message.qos === 0 && !ofWill) {
    const named = text();
    tell({ ...told, text: () => named }).catch(() => reporter.publishRefused('quota'));
    return true;
  }
  const isNew = await tell({ ...told, text });
  await heardBefore();
  return isNew;
}

/** Keeps the message, unless what it is about goes meanwhile: the next has another past. */
async function retainFor(
  { retain }: Pick<PublishOptions, 'retain'>,
  message: Message,
  requireThing: () => Promise<void>,
): Promise<void> {
  await retain(message);
  try {
    await requireThing();
  } catch (error) {
    if (!(error instanceof DomainError) || error.code !== 'not_found') throw error;
    await retain({ ...message, payload: new Uint8Array() });
  }
}

const accept = (): PublishOutcome => acceptedByService;

const refusalOf: Readonly<Record<ErrorCode, PublishRefusal | 'unavailable'>> = {
  invalid: 'payload_invalid',
  unauthenticated: 'not_authorized',
  forbidden: 'not_authorized',
  not_found: 'topic_invalid',
  conflict: 'payload_invalid',
  blocked: 'payload_invalid',
  gone: 'payload_invalid',
  too_large: 'payload_invalid',
  rate_limited: 'quota',
  limit_reached: 'quota',
  storage_full: 'quota',
  unavailable: 'unavailable',
};

/** The value that a device says it is set to, by a user property or in JSON [contract 13]. */
function confirmedBy(
  { properties }: Message,
  value: JsonValue,
): { readonly value: JsonValue } | undefined {
  const inJson = readConfirmed(value);
  if (inJson !== undefined) return inJson;
  const property = userPropertyOf(properties, 'confirmed');
  return property === undefined || property === 'false' ? undefined : { value };
}

/** A retained message without a payload forgets the one before [MQTT-3.3.1-6]. */
const isClearing = ({ retain, payload }: Message): boolean => retain && payload.byteLength === 0;

/** Where published values go. */
interface ValueParts {
  readonly ingest: Ingest;
  /** Takes long payloads in, alternating with those of HTTP. */
  readonly takeLargePush: TakeLargePush;
  /** Records what was refused, so that its owner may read why nothing arrives. */
  readonly refusedPushes: Pick<RefusedPushes, 'note'>;
}

/** Reads and stores a long payload, with other work in between; answers its values. */
async function storeLong(
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
async function storeShort(
  { ingest }: ValueParts,
  actor: Actor,
  sensor: SensorRef,
  message: Message,
  values: PublishedValues = readPublishedValues(message.payload),
): Promise<PublishedValues> {
  const sent = new MqttPublishContext(message, values);
  await ingest(actor, sensor, values.datapoints, sent, values.refused);
  return values;
}

/** Records the refused elements of an array whose other ones were stored. */
function noteRefused(
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
const lastTaken = (values: PublishedValues): Promise<NewDatapoint | undefined> =>
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
