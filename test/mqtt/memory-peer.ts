import { generate, type IConnectPacket, type Packet, parser } from 'mqtt-packet';
import type { Broker } from '../../src/mqtt/broker.ts';

/** A client without a socket: what it is sent can be looked at, packet by packet. */
export interface MemoryPeer {
  /** What arrived and was not taken yet. */
  take(): Promise<Packet[]>;
  /** As take, when so many have arrived: a peer is read from for some milliseconds at a time. */
  takeAll(count: number): Promise<Packet[]>;
  send(...packets: Packet[]): void;
  sendBytes(bytes: Buffer): void;
  /** The connection breaks, without a goodbye. */
  drop(): void;
  /** From now on nothing is read, so what is written stays buffered. */
  stopReading(): void;
  readAgain(): void;
  readonly isClosed: boolean;
  readonly isPaused: boolean;
}

type Version = 3 | 4 | 5;

/** Connects to the broker; nothing is sent yet. */
export function openPeer(broker: Broker, version: Version = 4): MemoryPeer {
  const reader = parser({ protocolVersion: version });
  let packets: Packet[] = [];
  let unread: Buffer[] | undefined;
  let isClosed = false;
  let isPaused = false;
  reader.on('packet', (packet) => packets.push(packet));
  const end = () => {
    if (isClosed) return;
    isClosed = true;
    receiver.closed();
  };
  const receiver = broker.accept(
    {
      write(bytes) {
        if (isClosed) return;
        const copy = Buffer.from(bytes);
        if (unread === undefined) reader.parse(copy);
        else unread.push(copy);
      },
      get bufferedBytes() {
        return (unread ?? []).reduce((sum, { length }) => sum + length, 0);
      },
      end,
      destroy: end,
      pause: () => {
        isPaused = true;
      },
      resume: () => {
        isPaused = false;
      },
    },
    '127.0.0.1',
  );
  const take = async (): Promise<Packet[]> => {
    await settled();
    const taken = packets;
    packets = [];
    return taken;
  };
  return {
    take,
    async takeAll(count) {
      await settledUntil(() => packets.length >= count, count);
      return take();
    },
    send(...list) {
      const options = { protocolVersion: version };
      receiver.receive(Buffer.concat(list.map((packet) => generate(packet, options))));
    },
    sendBytes: (bytes) => receiver.receive(bytes),
    drop: end,
    stopReading: () => {
      unread = [];
    },
    readAgain() {
      const waiting = unread ?? [];
      unread = undefined;
      for (const bytes of waiting) reader.parse(bytes);
      receiver.drained();
    },
    get isClosed() {
      return isClosed;
    },
    get isPaused() {
      return isPaused;
    },
  };
}

/** A CONNECT, by default of a session that ends with its connection. */
export function connectWith(options: Partial<IConnectPacket> = {}): IConnectPacket {
  const { protocolVersion = 4 } = options;
  return {
    cmd: 'connect',
    clientId: 'peer',
    clean: true,
    keepalive: 60,
    protocolId: protocolVersion === 3 ? 'MQIsdp' : 'MQTT',
    protocolVersion,
    ...options,
  };
}

/** Connects and lets the CONNACK be taken. */
export async function connectPeer(
  broker: Broker,
  options: Partial<IConnectPacket> = {},
): Promise<MemoryPeer> {
  const version = (options.protocolVersion ?? 4) as Version;
  const peer = openPeer(broker, version);
  peer.send(connectWith({ ...options, protocolVersion: version }));
  // Those who connect at once are let in some at a time.
  for (let at = 0; at < 100 && !peer.isClosed && (await peer.take()).length === 0; at += 1);
  return peer;
}

/** Every answer that waits for nothing from outside has been given. */
export async function settled(): Promise<void> {
  for (let turn = 0; turn < 6; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

/** Waits for what takes up to so many turns, in each of which the broker does something of it. */
export async function settledUntil(condition: () => boolean, turnsMax: number): Promise<void> {
  for (let turn = 0; turn < turnsMax && !condition(); turn += 1) await settled();
}
