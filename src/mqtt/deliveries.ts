import {
  bytesPerWeight,
  type ColumnBatch,
  datapointAt,
  valueTextAt,
  weightOfBatch,
} from '../domain/datapoints/column-batch.ts';
import type { Datapoint } from '../domain/datapoints/datapoint.ts';
import type { FeedEvent } from '../domain/datapoints/feed.ts';
import type { Watch } from '../domain/datapoints/watch.ts';
import { limits } from '../domain/limits.ts';
import type { Message, MessageOrigin } from '../domain/messaging/message.ts';
import type { PublishContext, ReceivedId } from '../domain/publish-context.ts';
import type { Instant } from '../lib/clock.ts';
import { isJsonObject, type JsonValue } from '../lib/json.ts';
import { createFairSlices, type FairSlices } from '../lib/scheduling/fair-slices.ts';
import { createTextBytes } from '../lib/text-bytes.ts';
import { formatTimestamp } from '../lib/timestamp.ts';
import { pushedText } from '../wire/datapoint.ts';
import { jsonOfMessage, messageOfJson } from './broker/talk.ts';
import type { Broker } from './broker.ts';
import { mqttLimits } from './limits.ts';
import type { PublishedValues } from './payload.ts';
import { actuatorTopic, valuesTopic, valueTopic } from './topics.ts';

/**
 * Hands what was stored to the broker, which asks for the rights of each subscriber. A push without
 * subscribers costs one search of the tree of subscriptions. A long push is handed on in slices,
 * and later pushes to its sensor wait behind it. So do pushes whose payer has had so much handed on
 * that others come first.
 */
export function deliverLive(watch: Watch, broker: Broker): () => void {
  const queue = createDeliveryQueue(broker);
  const settings = createSettingQueue(broker);
  return watch.open((events) => {
    for (const event of events) {
      if (event.kind === 'actuator') settings(event);
      else if (broker.hasAnySubscriber()) queue(event);
    }
  });
}

type Receivers = Pick<Broker, 'deliver' | 'hasSubscribers' | 'renewRetained'>;
type PacedReceivers = Receivers & Pick<Broker, 'isBehind' | 'turnOf'>;
type DatapointsEvent = Extract<FeedEvent, { readonly kind: 'datapoints' }>;
/** An event with its datapoints in columns. */
type LongEvent = DatapointsEvent & { readonly batch: ColumnBatch };

/** Hands on what one event says. */
export function deliverEvent(broker: Receivers, event: FeedEvent): void {
  if (event.kind === 'actuator') deliverSetting(broker, event);
  else deliverDatapoints(broker, event);
}

const isLong = (event: DatapointsEvent): event is LongEvent =>
  event.batch !== undefined &&
  (event.batch.count > mqttLimits.liveDatapointsAtOnceMax ||
    (event.batch.count > 1 && bytesOf(event.batch, event) > mqttLimits.liveBytesAtOnceMax));

type SettingEvent = Extract<FeedEvent, { readonly kind: 'actuator' }>;

/**
 * Hands settings of actuators on, each topic in order; where other payers come first, in the next
 * slice. Of too many that wait for one topic the oldest are left out: a newer one holds.
 */
function createSettingQueue(broker: PacedReceivers): (event: SettingEvent) => void {
  const queues = new Map<string, SettingEvent[]>();
  let waiting = 0;

  async function handOn(topic: string, queue: SettingEvent[]): Promise<void> {
    for (let [next] = queue; next !== undefined; [next] = queue) {
      const payer = publishedBy(next.publishContext)?.payer;
      if (payer !== undefined) await broker.turnOf(payer);
      // Others may have been left out meanwhile.
      const event = queue.shift();
      waiting -= 1;
      if (event !== undefined) deliverSetting(broker, event);
    }
    queues.delete(topic);
  }

  return (event) => {
    const topic = actuatorTopic(event.deviceId, event.actuatorId);
    const queue = queues.get(topic);
    const payer = publishedBy(event.publishContext)?.payer;
    const isLate = payer !== undefined && broker.isBehind(payer) && broker.hasSubscribers(topic);
    if (queue === undefined && (!isLate || waiting >= mqttLimits.settingsWaitingMax))
      return deliverSetting(broker, event);
    waiting += 1;
    if (queue === undefined) {
      const begun = [event];
      queues.set(topic, begun);
      void handOn(topic, begun);
      return;
    }
    queue.push(event);
    if (queue.length <= mqttLimits.settingsWaitingPerTopicMax) return;
    queue.shift();
    waiting -= 1;
  };
}

/** About how many bytes each subscriber gets: properties that were published come with each. */
const bytesOf = (batch: ColumnBatch, { publishContext }: DatapointsEvent): number =>
  bytesPerWeight * weightOfBatch(batch) +
  batch.count * (publishedBy(publishContext)?.properties?.length ?? 0);

/** The message as one of the payer of its push, who pays for handing it on. */
const paidFor = ({ payer }: DatapointsEvent, message: Message): Message =>
  payer === undefined || message.payer !== undefined ? message : { ...message, payer };

function createDeliveryQueue(broker: PacedReceivers): (event: DatapointsEvent) => void {
  const turns = createFairSlices({ turnMs: limits.turnMs });
  /** By topic: when the last of those that are not handed on yet will have been, and how many. */
  const queues = new Map<string, { readonly over: Promise<void>; readonly count: number }>();

  async function behind(before: Promise<void> | undefined, event: DatapointsEvent): Promise<void> {
    if (before !== undefined) await before;
    if (isLong(event)) return await handOnInTurns(broker, event, turns);
    if (event.payer !== undefined) await broker.turnOf(event.payer);
    deliverDatapoints(broker, event);
  }

  /** Whether it is handed on later: it is long, or other payers come first. */
  const isLater = (event: DatapointsEvent): boolean =>
    isLong(event) ||
    (event.payer !== undefined && broker.isBehind(event.payer) && isHeard(broker, event));

  return (event) => {
    const isLate = isLater(event);
    if (queues.size === 0 && !isLate) return deliverDatapoints(broker, event);
    const topic = valueTopic(event);
    const queue = queues.get(topic);
    // Events of other processes delay no sender: better out of order than without a bound.
    const isFull =
      event.payer === undefined && (queue?.count ?? 0) >= mqttLimits.eventsBehindLongMax;
    if ((queue === undefined || isFull) && !isLate) return deliverDatapoints(broker, event);
    const over = behind(queue?.over, event);
    const settled = over.then(ignore, ignore).then(() => {
      if (queues.get(topic)?.over === settled) queues.delete(topic);
    });
    queues.set(topic, { over: settled, count: (queue?.count ?? 0) + 1 });
    event.holdAnswer?.(over);
  };
}

const isHeard = (broker: Receivers, event: DatapointsEvent): boolean =>
  broker.hasSubscribers(valueTopic(event)) || broker.hasSubscribers(valuesTopic(event), 'named');

async function handOnInTurns(
  broker: Receivers,
  event: LongEvent,
  turns: FairSlices,
): Promise<void> {
  const pace = turns.paceOf(event.payer ?? event.deviceId);
  for (const _ of handOn(broker, event)) if (pace.isOver()) await pace.rest();
}

/** Hands on what a long push brings, in small steps. */
function* handOn(broker: Receivers, event: LongEvent): Generator<void, void> {
  const { batch, publishContext } = event;
  const topic = valueTopic(event);
  if (broker.hasSubscribers(topic)) {
    const from = Math.max(0, batch.count - mqttLimits.liveDatapointsPerPushMax);
    for (let row = from; row < batch.count; row += 1) {
      const datapoint = datapointAt(batch, row);
      const message = datapointMessage(topic, datapoint, publishContext, row - from);
      broker.deliver([paidFor(event, message)]);
      yield;
    }
  }
  const arrayTopic = valuesTopic(event);
  if (!broker.hasSubscribers(arrayTopic, 'named')) return;
  const text = isPublishedWhole(publishContext, batch.count) ? undefined : yield* arrayText(batch);
  const receivedAt = batch.received[0] ?? 0;
  const message = arrayMessage(arrayTopic, text, publishContext, { receivedAt });
  broker.deliver([paidFor(event, message)], 'named');
}

const rowsPerStep = 64;

/** The datapoints as one array, each as `pushedText` writes it. */
function* arrayText(batch: ColumnBatch): Generator<void, Uint8Array> {
  const pieces: Uint8Array[] = [];
  for (let from = 0; from < batch.count; from += rowsPerStep) {
    const end = Math.min(batch.count, from + rowsPerStep);
    for (let row = from; row < end; row += 1) {
      const time = batch.timed[row] === 1 ? batch.times[row] : undefined;
      const measured = time === undefined ? '' : `,"timestamp":"${formatTimestamp(time)}"`;
      text.putText(`${row === 0 ? '[' : ','}{"value":${valueTextAt(batch, row)}${measured}}`);
    }
    pieces.push(text.take());
    yield;
  }
  return Buffer.concat([...pieces, Buffer.from(']')]);
}

/** Slices of arrays are written here, one at a time. */
const text = createTextBytes();

function deliverDatapoints(broker: Receivers, event: DatapointsEvent): void {
  // `event.datapoints` is made when it is first read, so it is not read here.
  const { publishContext } = event;
  const topic = valueTopic(event);
  if (event.isPart !== true && broker.hasSubscribers(topic)) {
    const live = event.datapoints.slice(-mqttLimits.liveDatapointsPerPushMax);
    broker.deliver(
      live.map((datapoint, at) =>
        paidFor(event, datapointMessage(topic, datapoint, publishContext, at)),
      ),
    );
  }
  const arrayTopic = valuesTopic(event);
  if (broker.hasSubscribers(arrayTopic, 'named')) {
    const { datapoints, wholeCount = datapoints.length } = event;
    const whole = isPublishedWhole(publishContext, wholeCount);
    const written = whole ? undefined : Buffer.from(`[${datapoints.map(pushedText).join(',')}]`);
    const message = arrayMessage(arrayTopic, written, publishContext, datapoints[0]);
    broker.deliver([paidFor(event, message)], 'named');
  }
}

function deliverSetting(
  broker: Receivers,
  { deviceId, actuatorId, value, publishContext, origin }: SettingEvent,
): void {
  const topic = actuatorTopic(deviceId, actuatorId);
  const message = settingMessage(topic, value, publishContext);
  if (origin !== undefined) message.origin = origin;
  if (broker.hasSubscribers(topic)) broker.deliver([message]);
  // Else a gateway that comes back would obey an older setting that a client retained.
  if (publishedBy(publishContext) === undefined) broker.renewRetained({ ...message, retain: true });
}

const ignore = (): void => undefined;

/** The context that travels with a published value and says how to deliver it. */
export class MqttPublishContext {
  readonly message: Message;
  readonly form: PublishedValues['form'];
  readonly count: number;

  constructor(message: Message, { form, datapoints, refused }: PublishedValues) {
    this.message = message;
    this.form = form;
    this.count = datapoints.length + (refused?.count ?? 0);
  }

  get isRepetition(): boolean {
    return this.message.isRepetition === true;
  }

  get receivedAs(): ReceivedId | undefined {
    const { publisher: session, willTurn, retain } = this.message;
    const packetId = willTurn === undefined ? this.message.packetId : 0;
    return session !== undefined && packetId !== undefined
      ? { session, packetId, retain, ...(willTurn !== undefined && { willTurn }) }
      : undefined;
  }
}

/** How publishes travel to other processes of the service, where they are delivered as here. */
export function createPublishContextForm({ own }: { readonly own: number }) {
  const named = (writer: number): (() => MessageOrigin) => {
    let count = 0;
    return () => {
      count += 1;
      return { writer, at: count * numbersPerPublish };
    };
  };
  const origin = named(own);
  const settingOrigin = named(-own);
  return {
    ...{ origin, settingOrigin },
    toJson(context: PublishContext, as?: 'part' | 'setting'): JsonValue | undefined {
      if (!(context instanceof MqttPublishContext)) return undefined;
      const { message, form, count, isRepetition } = context;
      if (as === 'part') {
        // A part holds only its datapoints, so no payload; the push itself is numbered after it.
        const own = { ...message, payload: new Uint8Array(), origin: origin() };
        return { ...{ form, count: -1, isRepetition }, message: jsonOfMessage(own) };
      }
      message.origin = as === 'setting' ? settingOrigin() : origin();
      return { ...{ form, count, isRepetition }, message: jsonOfMessage(message) };
    },
    hasWhole: isPublishedWhole,
    fromJson: contextOfJson,
  };
}

/** Of the messages that one publish becomes, those behind the first have the numbers behind its. */
const numbersPerPublish = 4_096;

function numbered(message: Message, index: number): Message {
  const { origin } = message;
  if (origin !== undefined) message.origin = { ...origin, at: origin.at + index };
  return message;
}

function contextOfJson(value: JsonValue): PublishContext | undefined {
  if (!isJsonObject(value)) return undefined;
  const message = messageOfJson(value['message']);
  if (message === undefined) return undefined;
  const form = value['form'] as PublishedValues['form'];
  const context = new MqttPublishContext(message, { form, datapoints: [] });
  return Object.assign(context, { count: Number(value['count']) });
}

/** The message that came in over MQTT; undefined: it came by another protocol. */
const publishedBy = (context: PublishContext | undefined): Message | undefined =>
  context instanceof MqttPublishContext ? context.message : undefined;

/** Values that came by another protocol arrive at most once and are not retained [contract 8]. */
const messageFromElsewhere = (
  topic: string,
  payload: Uint8Array,
  receivedAt?: Instant,
): Message => ({
  ...{ topic, payload, qos: 0, retain: false },
  ...(receivedAt !== undefined && { receivedAt }),
});

/**
 * The datapoint as subscribers get it; an object that was published stays as it was. `index`: of
 * those of its push.
 */
export function datapointMessage(
  topic: string,
  datapoint: Datapoint | Omit<Datapoint, 'receivedAt'>,
  publishContext: PublishContext | undefined,
  index = 0,
): Message {
  if (!(publishContext instanceof MqttPublishContext)) {
    const receivedAt = 'receivedAt' in datapoint ? datapoint.receivedAt : undefined;
    return messageFromElsewhere(topic, Buffer.from(pushedText(datapoint)), receivedAt);
  }
  const { message, form } = publishContext;
  const payload = form === 'object' ? message.payload : Buffer.from(pushedText(datapoint));
  return numbered({ ...message, topic, payload }, index);
}

/** Whether all of a push of so many datapoints was published as one array: it stays as it was. */
const isPublishedWhole = (context: PublishContext | undefined, count: number): boolean =>
  context instanceof MqttPublishContext && context.form === 'array' && context.count === count;

/** All datapoints of a push as one array; without `written` as it was published. */
function arrayMessage(
  topic: string,
  written: Uint8Array | undefined,
  publishContext: PublishContext | undefined,
  first: Pick<Datapoint, 'receivedAt'> | undefined,
): Message {
  const message = publishedBy(publishContext);
  if (message === undefined) {
    return messageFromElsewhere(topic, written ?? new Uint8Array(), first?.receivedAt);
  }
  const whole = { ...message, topic, retain: false, payload: written ?? message.payload };
  return numbered(whole, numbersPerPublish - 1);
}

/** The message of an actuator's new setting: a bare JSON value. */
export function settingMessage(
  topic: string,
  value: JsonValue,
  publishContext: PublishContext | undefined,
): Message {
  const payload = Buffer.from(JSON.stringify(value));
  const message = publishedBy(publishContext);
  return message ? { ...message, topic, payload } : messageFromElsewhere(topic, payload);
}
