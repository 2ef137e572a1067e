import type { Datapoint } from '../domain/datapoints/datapoint.ts';
import type { Message } from '../domain/messaging/message.ts';
import type { PublishContext } from '../domain/publish-context.ts';
import type { JsonValue } from '../lib/json.ts';
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
