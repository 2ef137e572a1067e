import type { Datapoint } from '../domain/datapoints/datapoint.ts';
import type { Message } from '../domain/messaging/message.ts';
import type { PublishContext } from '../domain/publish-context.ts';
import { isJsonObject, type JsonValue } from '../lib/json.ts';
import { pushedText } from '../wire/datapoint.ts';
import type { PublishedValues } from './payload.ts';

/** What travels with a value that was published: how it is to be delivered. */
export class MqttPublishContext {
  readonly message: Message;
  readonly form: PublishedValues['form'];
  readonly count: number;
  readonly isRepetition: boolean;

  constructor(message: Message, { form, datapoints }: PublishedValues) {
    this.message = message;
    this.form = form;
    this.count = datapoints.length;
    this.isRepetition = message.isRepetition === true;
  }
}

/** How a publish travels to another process of the service, where it is delivered as here. */
export const publishContextForm = {
  toJson(context: PublishContext): JsonValue | undefined {
    if (!(context instanceof MqttPublishContext)) return undefined;
    const { message, form, count, isRepetition } = context;
    const { payload, properties, ...rest } = message;
    return {
      ...{ form, count, isRepetition },
      message: {
        ...rest,
        payload: Buffer.from(payload).toString('base64'),
        ...(properties !== undefined && {
          properties: Buffer.from(properties).toString('base64'),
        }),
      },
    };
  },
  /** What a process of this service wrote; undefined where it is none of that. */
  fromJson(value: JsonValue): PublishContext | undefined {
    if (!isJsonObject(value) || !isJsonObject(value['message'])) return undefined;
    const { payload, properties, ...rest } = value['message'];
    if (typeof payload !== 'string') return undefined;
    const message = {
      ...rest,
      payload: Buffer.from(payload, 'base64'),
      ...(typeof properties === 'string' && { properties: Buffer.from(properties, 'base64') }),
    } as unknown as Message;
    const form = value['form'] as PublishedValues['form'];
    const context = new MqttPublishContext(message, { form, datapoints: [] });
    return Object.assign(context, { count: Number(value['count']) });
  },
};

/** Whether it came in over MQTT: what is to be retained is settled there. */
export const isPublished = (publishContext: PublishContext | undefined): boolean =>
  publishContext instanceof MqttPublishContext;

/** Values that came by another protocol arrive at most once and are not retained [contract 8]. */
const fromElsewhere = { qos: 0, retain: false } as const;

/** The datapoint as subscribers get it; an object that was published stays as it was. */
export function datapointMessage(
  topic: string,
  datapoint: Datapoint | Omit<Datapoint, 'receivedAt'>,
  publishContext: PublishContext | undefined,
): Message {
  if (!(publishContext instanceof MqttPublishContext)) {
    return { ...fromElsewhere, topic, payload: Buffer.from(pushedText(datapoint)) };
  }
  const { message, form } = publishContext;
  const payload = form === 'object' ? message.payload : Buffer.from(pushedText(datapoint));
  return { ...message, topic, payload };
}

/** All datapoints of a push as one array; one that was published whole stays as it was. */
export function arrayMessage(
  topic: string,
  datapoints: readonly Datapoint[],
  publishContext: PublishContext | undefined,
): Message {
  const text = (): Uint8Array => Buffer.from(`[${datapoints.map(pushedText).join(',')}]`);
  if (!(publishContext instanceof MqttPublishContext))
    return { ...fromElsewhere, topic, payload: text() };
  const { message, form, count } = publishContext;
  const isWhole = form === 'array' && count === datapoints.length;
  return { ...message, topic, retain: false, payload: isWhole ? message.payload : text() };
}

/** What an actuator was set to, as a bare JSON value. */
export function settingMessage(
  topic: string,
  value: JsonValue,
  publishContext: PublishContext | undefined,
): Message {
  const payload = Buffer.from(JSON.stringify(value));
  if (!(publishContext instanceof MqttPublishContext)) return { ...fromElsewhere, topic, payload };
  return { ...publishContext.message, topic, payload };
}
