import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import mqttPacket, { type Packet } from 'mqtt-packet';

export interface PeerOptions {
  readonly url: string;
  readonly clientId: string;
  readonly version: 4 | 5;
  /** Absent: a guest. */
  readonly username?: string;
  readonly password?: string;
  /** The last will, of QoS 1. */
  readonly will?: { readonly topic: string; readonly payload: string };
  readonly onPacket: (packet: Packet) => void;
}

/** A connection of a session that is kept: packets in and out, and nothing done by itself. */
export interface Peer {
  readonly isSessionPresent: boolean;
  send(packet: Packet): void;
  /** Resolves when the connection is over, whoever ended it. */
  readonly closed: Promise<void>;
  /** Says goodbye. */
  end(): Promise<void>;
  /** Ends without a goodbye. */
  breakOff(): void;
}

const sessionSeconds = 3_600;

/** Connects to the port of HTTP, which takes MQTT too; rejects when there is no CONNACK. */
export async function connectPeer(options: PeerOptions): Promise<Peer> {
  const { url, clientId, version, onPacket, username, password, will } = options;
  const socket = connect({ port: Number(new URL(url).port), host: '127.0.0.1', noDelay: true });
  const { promise: closed, resolve: close } = Promise.withResolvers<void>();
  socket.once('close', () => close());
  await once(socket, 'connect');
  // From here on an end is an end, however it comes.
  socket.on('error', () => undefined);
  const send = (packet: Packet) => {
    socket.write(mqttPacket.generate(packet, { protocolVersion: version }));
  };
  const { promise: greeted, resolve: greet, reject: fail } = Promise.withResolvers<boolean>();
  void closed.then(() => fail(new Error(`${clientId} was not let in`)));
  readPackets(socket, version, (packet) => {
    if (packet.cmd !== 'connack') onPacket(packet);
    // One that is refused is closed.
    else if ((packet.reasonCode ?? packet.returnCode) === 0) greet(packet.sessionPresent);
  });
  send({
    cmd: 'connect',
    ...{ protocolId: 'MQTT', protocolVersion: version, clientId, clean: false, keepalive: 60 },
    ...(username !== undefined && { username, password: Buffer.from(password ?? '') }),
    ...(will && {
      will: { topic: will.topic, payload: Buffer.from(will.payload), qos: 1, retain: false },
    }),
    ...(version === 5 && { properties: { sessionExpiryInterval: sessionSeconds } }),
  });
  const isSessionPresent = await greeted;
  return {
    isSessionPresent,
    send,
    closed,
    async end() {
      send({ cmd: 'disconnect' });
      socket.end();
      await closed;
    },
    breakOff: () => void socket.destroy(),
  };
}

function readPackets(socket: Socket, version: 4 | 5, take: (packet: Packet) => void): void {
  const parser = mqttPacket.parser({ protocolVersion: version });
  parser.on('packet', take);
  socket.on('data', (bytes) => {
    parser.parse(bytes);
  });
}
