import mqtt, {
  type IClientOptions,
  type IPublishPacket,
  type ISubscriptionGrant,
  type MqttClient,
} from 'mqtt';
import { passwordOf, type Service } from '../service.ts';

/** A message that a client got. */
export interface Got {
  readonly topic: string;
  readonly payload: string;
  readonly packet: IPublishPacket;
}

/** A client with what it got; it is ended with the service's test. */
export interface Client extends AsyncDisposable {
  readonly mqtt: MqttClient;
  /** Resolves with the first `count` messages, in order, once they are here. */
  got(count: number): Promise<readonly Got[]>;
  /** Everything so far, as "topic payload". */
  readonly texts: readonly string[];
  publish(topic: string, payload: unknown, options?: PublishOptions): Promise<unknown>;
  subscribe(topic: string | readonly string[], qos?: 0 | 1 | 2): Promise<ISubscriptionGrant[]>;
}

type PublishOptions = Parameters<MqttClient['publishAsync']>[2];

export type ClientOptions = IClientOptions & {
  readonly url?: string;
  /** One of the service's test users; their password is known. */
  readonly as?: string;
};

/** Connects with the npm client, which never reconnects by itself here. */
export async function connect(service: Service, options: ClientOptions = {}): Promise<Client> {
  const { url = service.mqttUrl, as, ...others } = options;
  if (as !== undefined) await service.tokenOf(as);
  const client = mqtt.connect(url, {
    protocolVersion: 5,
    reconnectPeriod: 0,
    ...(as !== undefined && { username: as, password: passwordOf(as) }),
    ...others,
  });
  // What waited for the session comes together with the CONNACK: listen before.
  const watching = watched(client);
  await new Promise<void>((resolve, reject) => {
    client.once('connect', () => resolve());
    client.once('error', reject);
  });
  return watching;
}

/** The reason code of a CONNACK that refuses. */
export async function refusal(service: Service, options: ClientOptions): Promise<number> {
  const { url = service.mqttUrl, as: _, ...others } = options;
  const client = mqtt.connect(url, { protocolVersion: 4, reconnectPeriod: 0, ...others });
  const error = await new Promise<Error & { code?: number }>((resolve) => {
    client.once('error', resolve);
  });
  client.end(true);
  if (error.code === undefined) throw error;
  return error.code;
}

function watched(client: MqttClient): Client {
  const messages: Got[] = [];
  const waiting: { count: number; resolve: () => void }[] = [];
  client.on('message', (topic, payload, packet) => {
    messages.push({ topic, payload: payload.toString('utf8'), packet });
    for (const { count, resolve } of waiting) if (messages.length >= count) resolve();
  });
  return {
    mqtt: client,
    async got(count) {
      if (messages.length < count) {
        await new Promise<void>((resolve) => waiting.push({ count, resolve }));
      }
      return messages.slice(0, count);
    },
    get texts() {
      return messages.map(({ topic, payload }) => `${topic} ${payload}`);
    },
    publish: (topic, payload, publishOptions = { qos: 1 }) =>
      client.publishAsync(
        topic,
        typeof payload === 'string' || Buffer.isBuffer(payload) ? payload : JSON.stringify(payload),
        publishOptions,
      ),
    subscribe: (topic, qos = 1) => client.subscribeAsync([...[topic].flat()], { qos }),
    async [Symbol.asyncDispose]() {
      await client.endAsync(true);
    },
  };
}

/** Resolves with the reason code of the DISCONNECT, or undefined when there was none. */
export async function ended(client: Client): Promise<number | undefined> {
  let code: number | undefined;
  client.mqtt.on('disconnect', ({ reasonCode }) => {
    code = reasonCode;
  });
  if (client.mqtt.connected) {
    await new Promise<void>((resolve) => client.mqtt.once('close', resolve));
  }
  return code;
}

/** Makes a device with sensors and actuators of these ids. */
export async function makeDevice(
  service: Service,
  owner: string,
  id: string,
  fields: {
    readonly visibility?: string;
    readonly sensors?: readonly string[];
    readonly actuators?: readonly string[];
  } = {},
): Promise<void> {
  const { visibility, sensors = ['t'], actuators = ['a'] } = fields;
  const parts = (ids: readonly string[]) => ids.map((part) => ({ id: part }));
  const reply = await service.as(owner)({
    method: 'POST',
    path: '/devices',
    json: { id, visibility, sensors: parts(sensors), actuators: parts(actuators) },
  });
  if (reply.status !== 204) throw new Error(`no device ${id}: ${reply.text}`);
}
