import type { Payer } from '../domain/budgets/payer.ts';
import type { Datapoint } from '../domain/datapoints/datapoint.ts';
import type { Message, MessageOrigin } from '../domain/messaging/message.ts';
import type { PublishContext, ReceivedId } from '../domain/publish-context.ts';
import { isJsonObject, type JsonValue } from '../lib/json.ts';
import { pushedText } from '../wire/datapoint.ts';
import { jsonOfMessage, messageOfJson } from './broker/talk.ts';
import type { PublishedValues } from './payload.ts';

/** The context that travels with a published value and says how to deliver it. */
export class MqttPublishContext {
  readonly message: Message;
  readonly form: PublishedValues['form'];
  readonly count: number;
  readonly isRepetition: boolean;
  readonly receivedAs: ReceivedId | undefined;

  constructor(message: Message, { form, datapoints, refused }: PublishedValues) {
    this.message = message;
    this.form = form;
    this.count = datapoints.length + (refused?.count ?? 0);
    this.isRepetition = message.isRepetition === true;
    const { publisher: session, packetId, retain } = message;
    const isKept = session !== undefined && packetId !== undefined;
    this.receivedAs = isKept ? { session, packetId, retain } : undefined;
  }
}

/** How publishes travel to other processes of the service, where they are delivered as here. */
export function createPublishContextForm({ own }: { readonly own: number }) {
  let count = 0;
  const origin = (): MessageOrigin => {
    count += 1;
    return { writer: own, at: count * numbersPerPublish };
  };
  return {
    origin,
    toJson(context: PublishContext, part?: 'part'): JsonValue | undefined {
      if (!(context instanceof MqttPublishContext)) return undefined;
      const { message, form, count, isRepetition } = context;
      if (part !== undefined) {
        // A part holds only its datapoints, so no payload; the push itself is numbered after it.
        const own = { ...message, payload: new Uint8Array(), origin: origin() };
        return { ...{ form, count: -1, isRepetition }, message: jsonOfMessage(own) };
      }
      message.origin = origin();
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

/** Whether it came in over MQTT: what is to be retained is settled there. */
export const isPublished = (publishContext: PublishContext | undefined): boolean =>
  publishContext instanceof MqttPublishContext;

/** Bytes of the properties that each message of a publish carries. */
export const propertyBytesOf = (context: PublishContext | undefined): number =>
  context instanceof MqttPublishContext ? (context.message.properties?.length ?? 0) : 0;

/** Payer of what came in over MQTT. */
export const payerOfPublish = (context: PublishContext | undefined): Payer | undefined =>
  context instanceof MqttPublishContext ? context.message.payer : undefined;

/** Values that came by another protocol arrive at most once and are not retained [contract 8]. */
const fromElsewhere = { qos: 0, retain: false } as const;

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
    return {
      ...{ ...fromElsewhere, topic, payload: Buffer.from(pushedText(datapoint)) },
      ...(receivedAt !== undefined && { receivedAt }),
    };
  }
  const { message, form } = publishContext;
  const payload = form === 'object' ? message.payload : Buffer.from(pushedText(datapoint));
  return numbered({ ...message, topic, payload }, index);
}

/** Whether all of a push of so many datapoints was published as one array: it stays as it was. */
export const isPublishedWhole = (context: PublishContext | undefined, count: number): boolean =>
  context instanceof MqttPublishContext && context.form === 'array' && context.count === count;

/** All datapoints of a push as one array; without `written` as it was published. */
export function arrayMessage(
  topic: string,
  written: Uint8Array | undefined,
  publishContext: PublishContext | undefined,
  first: Pick<Datapoint, 'receivedAt'> | undefined,
): Message {
  if (!(publishContext instanceof MqttPublishContext)) {
    const payload = written ?? new Uint8Array();
    const { receivedAt } = first ?? {};
    return { ...fromElsewhere, topic, payload, ...(receivedAt !== undefined && { receivedAt }) };
  }
  const { message } = publishContext;
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
  if (!(publishContext instanceof MqttPublishContext)) return { ...fromElsewhere, topic, payload };
  return { ...publishContext.message, topic, payload };
}
