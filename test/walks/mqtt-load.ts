import assert from 'node:assert/strict';
import type { Packet } from 'mqtt-packet';
import { minute } from '../v2/sensor-endpoint.ts';
import { connectPeer, type Peer } from './mqtt-peer.ts';

export const deviceId = 'field';
const underWayMax = 12;
const packetIdMax = 60_000;

/** A publish whose exchange is not over. */
interface UnderWay {
  readonly mark: string;
  readonly payload: string;
  isReceived: boolean;
}

/** A client that publishes to a sensor of its own, and goes on where it was after a crash. */
export interface Publisher {
  readonly sensorId: string;
  /** What the service took over: PUBACK, or PUBREC. */
  readonly acknowledged: Set<string>;
  /** Sent a second time, because nobody said that it was taken. */
  readonly repeated: Set<string>;
  /** Sends again what is under way, then publishes until the connection is over. */
  run(url: string, onAcknowledged: () => void): Promise<void>;
  /** Sends again what is under way, and waits for the end of it. */
  settle(url: string): Promise<void>;
}

/** With a timestamp a repetition is known by its content [contract 6], else by its packet id. */
export function createPublisher(
  index: number,
  { qos, isDated }: { readonly qos: 1 | 2; readonly isDated: boolean },
): Publisher {
  const sensorId = `S${index}`;
  const version = index % 2 === 0 ? 4 : 5;
  const underWay = new Map<number, UnderWay>();
  const acknowledged = new Set<string>();
  const repeated = new Set<string>();
  let count = 0;
  let isKnown: boolean | 'perhaps' = false;

  function publish(peer: Peer, messageId: number, payload: string, dup: boolean): void {
    const topic = `devices/${deviceId}/sensors/${sensorId}/value`;
    peer.send({ cmd: 'publish', topic, payload, qos, dup, retain: false, messageId });
  }

  function publishNext(peer: Peer): void {
    count += 1;
    const messageId = (count % packetIdMax) + 1;
    const mark = `${sensorId}.${count}`;
    const timestamp = isDated ? { timestamp: minute(count) } : {};
    const payload = JSON.stringify({ value: mark, ...timestamp });
    underWay.set(messageId, { mark, payload, isReceived: false });
    publish(peer, messageId, payload, false);
  }

  function repeat(peer: Peer): void {
    for (const [messageId, { mark, payload, isReceived }] of underWay) {
      if (isReceived) peer.send({ cmd: 'pubrel', messageId });
      else {
        repeated.add(mark);
        publish(peer, messageId, payload, true);
      }
    }
  }

  /** Answers whether the exchange is over. */
  function take(peer: Peer, { cmd, messageId = 0 }: Packet): boolean {
    const one = underWay.get(messageId);
    if (one === undefined) return false;
    if (cmd === 'puback' || cmd === 'pubrec') acknowledged.add(one.mark);
    if (cmd === 'pubrec') {
      one.isReceived = true;
      peer.send({ cmd: 'pubrel', messageId });
    }
    if (cmd !== 'puback' && cmd !== 'pubcomp') return false;
    return underWay.delete(messageId);
  }

  async function open(url: string, onDone: (peer: Peer) => void): Promise<Peer> {
    const peer = await connectPeer({
      ...{ url, version, clientId: `publisher-${index}` },
      onPacket: (packet) => {
        if (take(peer, packet)) onDone(peer);
      },
    });
    // A session that was told of is there after a crash.
    if (isKnown !== 'perhaps') assert.equal(peer.isSessionPresent, isKnown, sensorId);
    isKnown = true;
    repeat(peer);
    return peer;
  }

  return {
    ...{ sensorId, acknowledged, repeated },
    async run(url, onAcknowledged) {
      const peer = await open(url, (open) => {
        onAcknowledged();
        publishNext(open);
      }).catch((error: Error) => {
        if (!error.message.endsWith('was not let in')) throw error;
        return undefined;
      });
      if (peer === undefined) {
        // The service was killed before its CONNACK came, with or without the session.
        isKnown ||= 'perhaps';
        return;
      }
      while (underWay.size < underWayMax) publishNext(peer);
      await peer.closed;
    },
    async settle(url) {
      const { promise, resolve } = Promise.withResolvers<void>();
      const peer = await open(url, () => {
        if (underWay.size === 0) resolve();
      });
      if (underWay.size === 0) resolve();
      await promise;
      await peer.end();
    },
  };
}

/** A device of guests with a sensor for each. */
export async function createDevice(url: string, publishers: readonly Publisher[]): Promise<void> {
  const sensors = publishers.map(({ sensorId }) => ({ id: sensorId }));
  const { status } = await fetch(`${url}/api/v2/devices`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ id: deviceId, sensors }),
  });
  assert.equal(status, 204);
}

/** How often each value is stored. */
async function storedOf(url: string, { sensorId }: Publisher): Promise<Map<string, number>> {
  const path = `${url}/api/v2/devices/${deviceId}/sensors/${sensorId}/values?limit=1000000`;
  const times = new Map<string, number>();
  for (const { value } of (await (await fetch(path)).json()) as { value: string }[]) {
    times.set(value, (times.get(value) ?? 0) + 1);
  }
  return times;
}

/** All that was acknowledged is stored, and nothing is stored twice. */
export async function assertStored(url: string, publisher: Publisher): Promise<void> {
  const stored = await storedOf(url, publisher);
  const lost = [...publisher.acknowledged].filter((mark) => !stored.has(mark));
  const twice = [...stored].filter(([, times]) => times > 1);
  assert.deepEqual({ lost, twice }, { lost: [], twice: [] }, publisher.sensorId);
}

/** A client whose session waits for it, on line or not. */
export interface Subscriber {
  readonly name: string;
  readonly qos: 1 | 2;
  /** How often each value came with QoS 2; with QoS 1 whether it came. */
  readonly got: ReadonlyMap<string, number>;
  /** Connects, subscribes the first time, and takes what waits. */
  connect(url: string): Promise<Peer>;
  /** Resolves once all of these came. */
  until(marks: ReadonlySet<string>, patienceMs: number): Promise<void>;
}

export function createSubscriber(index: number, qos: 1 | 2): Subscriber {
  const version = index % 2 === 0 ? 4 : 5;
  const name = `subscriber-${index} of version ${version} with QoS ${qos}`;
  const got = new Map<string, number>();
  /** Packet ids of QoS 2 whose exchange is not over: what a client keeps on its own disk. */
  const received = new Set<number>();
  let isSubscribed = false;
  let wake = () => {};

  function take(peer: Peer, packet: Packet): void {
    const messageId = packet.messageId ?? 0;
    if (packet.cmd === 'pubrel') {
      received.delete(messageId);
      peer.send({ cmd: 'pubcomp', messageId });
    }
    if (packet.cmd !== 'publish') return;
    if (packet.qos !== 2 || !received.has(messageId)) {
      const { value } = JSON.parse(packet.payload.toString()) as { value: string };
      // With QoS 1 a repetition is allowed.
      got.set(value, packet.qos === 2 ? (got.get(value) ?? 0) + 1 : 1);
    }
    if (packet.qos === 2) received.add(messageId);
    peer.send({ cmd: packet.qos === 2 ? 'pubrec' : 'puback', messageId });
    wake();
  }

  return {
    ...{ name, qos, got },
    async connect(url) {
      const { promise: granted, resolve: grant } = Promise.withResolvers<void>();
      const early: Packet[] = [];
      let peer: Peer | undefined;
      peer = await connectPeer({
        ...{ url, version, clientId: `subscriber-${index}` },
        onPacket: (packet) => {
          if (packet.cmd === 'suback') grant();
          else if (peer === undefined) early.push(packet);
          else take(peer, packet);
        },
      });
      for (const packet of early) take(peer, packet);
      // Subscriptions survive: they are made once.
      assert.equal(peer.isSessionPresent, isSubscribed, name);
      if (isSubscribed) return peer;
      const topic = `devices/${deviceId}/sensors/+/value`;
      peer.send({ cmd: 'subscribe', messageId: 1, subscriptions: [{ topic, qos }] });
      await granted;
      isSubscribed = true;
      return peer;
    },
    async until(marks, patienceMs) {
      const lacking = () => [...marks].filter((mark) => !got.has(mark));
      const late = AbortSignal.timeout(patienceMs);
      while (lacking().length > 0 && !late.aborted) {
        const { promise, resolve } = Promise.withResolvers<void>();
        wake = resolve;
        late.addEventListener('abort', () => resolve(), { once: true });
        await promise;
      }
      const left = lacking();
      assert.deepEqual(left.slice(0, 10), [], `${name} lacks ${left.length} of ${marks.size}`);
    },
  };
}
