import { setTimeout as wait } from 'node:timers/promises';
import type { Packet } from 'mqtt-packet';
import { minute } from '../v2/sensor-endpoint.ts';
import type { History, Sent } from './history.ts';
import { deviceId, type HttpTarget, type Load } from './http-load.ts';
import { type MqttClientOptions, type MqttLink, startClient } from './mqtt-client.ts';

const pauseMs = 25;
const underWayMax = 4;
/** The reason code of a publish that cannot be stored [MQTT5 3.4.2.1]: quota exceeded. */
const diskFull = 0x97;

interface UnderWay {
  readonly sent: Sent;
  readonly payload: string;
  isReceived: boolean;
}

/** A publisher; `stop` resolves when nothing is under way any more. */
export interface Publisher extends Load {
  /** Publishes nothing new. */
  rest(): void;
  /** How much was sent and not acknowledged. */
  underWay(): number;
}

const valueTopic = (sensor: string): string => `devices/${deviceId}/sensors/${sensor}/value`;

/** One client that publishes to a sensor, and sends again what nobody acknowledged. */
export function startPublisher(
  history: History,
  targets: readonly HttpTarget[],
  { sensor, qos, isTimed }: { sensor: string; qos: 1 | 2; isTimed: boolean },
): Publisher {
  const underWay = new Map<number, UnderWay>();
  let count = 0;
  let isOver = false;
  let wasConnected = false;

  function publish(link: MqttLink, messageId: number, one: UnderWay): void {
    one.sent.sends += 1;
    const dup = one.sent.sends > 1;
    const topic = valueTopic(sensor);
    link.send({ cmd: 'publish', topic, payload: one.payload, qos, dup, retain: false, messageId });
  }

  function publishNext(link: MqttLink): void {
    count += 1;
    const mark = `${sensor}.${count}`;
    const payload = JSON.stringify({ value: mark, ...(isTimed && { timestamp: minute(count) }) });
    const sent: Sent = {
      ...{ by: `publisher of ${sensor}`, sensor, mark, place: count, qos, isTimed },
      ...{ sentAt: performance.now(), sends: 0, outcome: 'unknown' },
      answeredAt: Number.POSITIVE_INFINITY,
    };
    history.sent.push(sent);
    const one = { sent, payload, isReceived: false };
    underWay.set((count % 60_000) + 1, one);
    publish(link, (count % 60_000) + 1, one);
  }

  function acknowledge(
    { sent }: UnderWay,
    { cmd, reasonCode = 0 }: Packet & { reasonCode?: number },
  ) {
    if (reasonCode === diskFull) {
      // Nothing is kept of it; what was sent before may be.
      if (sent.sends === 1) sent.outcome = 'refused';
    } else if (reasonCode >= 0x80) history.oddities.push(`${sent.mark}: ${cmd} with ${reasonCode}`);
    else if (sent.outcome === 'unknown') {
      sent.outcome = 'acknowledged';
      sent.answeredAt = performance.now();
    }
  }

  const client = startClient({
    ...{ clientId: `publisher-${sensor}`, history, targets },
    onConnected(link, isSessionPresent) {
      if (wasConnected && !isSessionPresent)
        history.oddities.push(`${sensor}: its session is lost`);
      wasConnected = true;
      for (const [messageId, one] of underWay) {
        if (one.isReceived) link.send({ cmd: 'pubrel', messageId });
        else publish(link, messageId, one);
      }
    },
    onPacket(link, packet) {
      const one = underWay.get(packet.messageId ?? 0);
      if (one === undefined) return;
      if (packet.cmd === 'puback' || packet.cmd === 'pubrec') acknowledge(one, packet);
      if (packet.cmd === 'pubrec') {
        one.isReceived = true;
        link.send({ cmd: 'pubrel', messageId: packet.messageId ?? 0 });
      }
      if (packet.cmd === 'puback' || packet.cmd === 'pubcomp') {
        underWay.delete(packet.messageId ?? 0);
      }
    },
  });
  const ended = (async () => {
    while (!isOver) {
      const link = client.link();
      if (link !== undefined && underWay.size < underWayMax) publishNext(link);
      await wait(pauseMs);
    }
  })();
  return {
    rest() {
      isOver = true;
    },
    underWay: () => underWay.size,
    async stop() {
      isOver = true;
      await ended;
      await client.stop();
    },
  };
}

export interface SubscriberOptions {
  readonly name: string;
  readonly qos: 1 | 2;
  readonly sensors: readonly string[];
  readonly account?: MqttClientOptions['account'];
  /** Before the topic, for instance `$share/pair/`. */
  readonly prefix?: string;
  /** Of a group, which gets as a whole what one alone would. */
  readonly isMember?: boolean;
}

/** A client that receives; its session goes on whatever becomes of its connection. */
export interface Subscriber extends Load {
  /** Resolves when it is subscribed. */
  readonly subscribed: Promise<void>;
  /** Ends the connection; it connects again. */
  breakOff(): void;
  /** Which of these marks did not come yet. */
  lacks(marks: readonly string[]): readonly string[];
}

/** Subscribes to the values of sensors with a session that is kept. */
export function startSubscriber(
  history: History,
  targets: readonly HttpTarget[],
  { name, qos, sensors, account, prefix = '', isMember = false }: SubscriberOptions,
): Subscriber {
  const { promise: subscribed, resolve } = Promise.withResolvers<void>();
  /** Packet ids of QoS 2 whose exchange is not over: what a client keeps on its own disk. */
  const open = new Set<number>();
  const got = new Set<string>();
  let isSubscribed = false;

  function take(packet: Packet & { readonly cmd: 'publish' }): void {
    const sensor = packet.topic.split('/')[3] ?? '';
    const isRepeated = packet.qos === 2 && open.has(packet.messageId ?? 0);
    if (packet.qos === 2) open.add(packet.messageId ?? 0);
    if (isRepeated) return;
    const { value } = JSON.parse(packet.payload.toString()) as { value: unknown };
    const mark = String(value);
    got.add(mark);
    const [isDuplicate, at] = [packet.dup, performance.now()];
    history.received.push({ session: name, sensor, mark, isDuplicate, at });
  }

  const client = startClient({
    ...{ clientId: name, history, targets },
    ...(account !== undefined && { account }),
    onConnected(link, isSessionPresent) {
      if (isSubscribed && !isSessionPresent) history.oddities.push(`${name}: its session is lost`);
      if (isSubscribed) return;
      open.clear();
      const subscriptions = sensors.map((sensor) => ({ topic: prefix + valueTopic(sensor), qos }));
      link.send({ cmd: 'subscribe', messageId: 1, subscriptions });
    },
    onPacket(link, packet) {
      const messageId = packet.messageId ?? 0;
      if (packet.cmd === 'suback' && !isSubscribed) {
        isSubscribed = true;
        const [from, until] = [performance.now(), Number.POSITIVE_INFINITY];
        if (!isMember) {
          history.subscriptions.push({
            session: name,
            qos,
            sensors: new Set(sensors),
            from,
            until,
          });
        }
        resolve();
      }
      if (packet.cmd === 'pubrel') {
        open.delete(messageId);
        link.send({ cmd: 'pubcomp', messageId });
      }
      if (packet.cmd !== 'publish') return;
      take(packet);
      if (packet.qos > 0) link.send({ cmd: packet.qos === 2 ? 'pubrec' : 'puback', messageId });
    },
  });
  return {
    subscribed,
    breakOff: client.breakOff,
    lacks: (marks) => marks.filter((mark) => !got.has(mark)),
    stop: client.stop,
  };
}
