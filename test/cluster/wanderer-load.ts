import { setTimeout as wait } from 'node:timers/promises';
import type { Death, History } from './history.ts';
import { deviceId, type HttpTarget, type Load } from './http-load.ts';
import { startClient } from './mqtt-client.ts';

const wanderer = 'wanderer';
const witness = 'witness';
const willTopic = `devices/${deviceId}/wills`;
const retainedTopic = `devices/${deviceId}/retained`;
const stayMs = 350;
const retainMs = 200;
/** A retained message that did not come by then is not waited for. */
const retainedMsMax = 3_000;

/** Clients of which one dies again and again. */
export interface Wanderers extends Load {
  /** Resolves when somebody listens for wills. */
  readonly ready: Promise<void>;
  /** Lets nobody die any more. */
  rest(): void;
  /** Deaths whose will did not come yet. */
  mourned(): boolean;
}

/**
 * A client with a kept session and a last will that goes from process to process without a goodbye,
 * and a witness of its wills.
 */
export function startWanderer(history: History, targets: readonly HttpTarget[]): Wanderers {
  const { promise: ready, resolve } = Promise.withResolvers<void>();
  const lives = new Map<string, Death>();
  /** Packet ids of QoS 2 whose exchange is not over. */
  const open = new Set<number>();
  let life = 0;
  /** The life of the connection that there is. */
  let current: string | undefined;
  let isOver = false;
  let isSubscribed = false;
  /** Of the witness. */
  let connections = 0;

  function take(mark: string, copy: string): void {
    const known = lives.get(mark) ?? { client: mark, wills: 0, copies: [] };
    known.wills += 1;
    known.copies?.push(`at ${(performance.now() / 1_000).toFixed(2)} s ${copy}`);
    lives.set(mark, known);
  }

  const listener = startClient({
    ...{ clientId: witness, history, targets },
    onConnected(link, isSessionPresent) {
      connections += 1;
      if (isSubscribed && !isSessionPresent)
        history.oddities.push(`${witness}: its session is lost`);
      if (isSubscribed) return;
      open.clear();
      link.send({ cmd: 'subscribe', messageId: 1, subscriptions: [{ topic: willTopic, qos: 2 }] });
    },
    onPacket(link, packet) {
      const messageId = packet.messageId ?? 0;
      if (packet.cmd === 'suback') {
        isSubscribed = true;
        resolve();
      }
      if (packet.cmd === 'pubrel') {
        open.delete(messageId);
        link.send({ cmd: 'pubcomp', messageId });
      }
      if (packet.cmd !== 'publish') return;
      if (packet.qos === 1) link.send({ cmd: 'puback', messageId });
      if (packet.qos === 2) link.send({ cmd: 'pubrec', messageId });
      const copy = `as ${messageId} of the ${connections}. connection${packet.dup ? ', DUP' : ''}`;
      if (packet.qos < 2 || !open.has(messageId)) take(packet.payload.toString(), copy);
      if (packet.qos === 2) open.add(messageId);
    },
  });

  const own = startClient({
    ...{ clientId: wanderer, history, targets },
    will() {
      life += 1;
      return { topic: willTopic, payload: `${wanderer} ${life}` };
    },
    onConnected(link) {
      current = `${wanderer} ${life}`;
      void wait(stayMs).then(() => {
        if (!isOver && own.link() === link) own.breakOff();
      });
    },
    onEnded() {
      // It died, unless it says goodbye; of one that was never let in nobody knows.
      if (current === undefined || isOver) return;
      const death = lives.get(current) ?? { client: current, wills: 0, copies: [] };
      lives.set(current, death);
      history.deaths.push(death);
      current = undefined;
    },
    onPacket: () => undefined,
  });

  return {
    ready,
    rest() {
      isOver = true;
    },
    mourned: () => history.deaths.every(({ wills }) => wills > 0),
    async stop() {
      isOver = true;
      await own.stop();
      await listener.stop();
    },
  };
}

/**
 * One client retains one number after the other; another one subscribes again and again, at each
 * process, and gets none that is older than what was acknowledged before.
 */
export function startRetainer(history: History, targets: readonly HttpTarget[]): Load {
  let isOver = false;
  let count = 0;
  let acknowledged = 0;
  const sends = new Map<number, number>();

  const publish = (): void => {
    const link = publisher.link();
    if (link === undefined || count === 0) return;
    sends.set(count, (sends.get(count) ?? 0) + 1);
    const dup = (sends.get(count) ?? 0) > 1;
    const [topic, payload] = [retainedTopic, String(count)];
    link.send({ cmd: 'publish', topic, payload, qos: 1, dup, retain: true, messageId: 1 });
  };
  const publisher = startClient({
    ...{ clientId: 'retainer-1', history, targets },
    onConnected: () => {
      if (acknowledged < count) publish();
    },
    onPacket(_, packet) {
      if (packet.cmd === 'puback' && (packet.reasonCode ?? 0) < 0x80) acknowledged = count;
    },
  });

  /** What was acknowledged when each subscription was asked for. */
  const asked = new Map<number, number>();
  let number = 0;
  let got = 0;
  const subscriber = startClient({
    ...{ clientId: 'retained-2', history, targets },
    onConnected: () => undefined,
    onPacket(link, packet) {
      if (packet.cmd !== 'publish') return;
      if (packet.qos === 1) link.send({ cmd: 'puback', messageId: packet.messageId ?? 0 });
      const identifier = Number(packet.properties?.subscriptionIdentifier ?? 0);
      if (!packet.retain || identifier < number) return;
      got = identifier;
      const value = Number(packet.payload.toString());
      const before = asked.get(identifier) ?? 0;
      if (value < before && sends.get(value) === 1) {
        history.oddities.push(`${value} is retained, and ${before} was acknowledged before`);
      }
    },
  });

  async function retain(): Promise<void> {
    while (!isOver) {
      if (acknowledged === count) {
        count += 1;
        publish();
      }
      await wait(retainMs);
    }
  }

  async function lookAgain(): Promise<void> {
    while (!isOver) {
      const link = subscriber.link();
      if (link !== undefined) {
        number += 1;
        asked.set(number, acknowledged);
        link.send({ cmd: 'unsubscribe', messageId: 2, unsubscriptions: [retainedTopic] });
        link.send({
          ...{ cmd: 'subscribe', messageId: 3, subscriptions: [{ topic: retainedTopic, qos: 1 }] },
          properties: { subscriptionIdentifier: number },
        });
        const giveUpAt = performance.now() + retainedMsMax;
        while (got < number && performance.now() < giveUpAt && !isOver) await wait(20);
        // At another process the next time.
        if (number % 3 === 0) subscriber.breakOff();
      }
      await wait(retainMs);
    }
  }

  const ended = Promise.all([retain(), lookAgain()]);
  return {
    async stop() {
      isOver = true;
      await ended;
      await publisher.stop();
      await subscriber.stop();
      if (got === 0) history.oddities.push('nothing retained ever came');
    },
  };
}
