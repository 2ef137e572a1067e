import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { generate, type IConnectPacket, type Packet, parser } from 'mqtt-packet';

/** A client without manners: sends what it is told to, and reads or not. */
export interface RawClient {
  readonly socket: Socket;
  /** What arrived so far. */
  readonly packets: readonly Packet[];
  readonly isClosed: boolean;
  readonly bytesRead: number;
  /** Resolves once the bytes are on their way, or the connection is over. */
  send(...packets: readonly (Packet | Buffer)[]): Promise<void>;
  /** Waits for a packet of this kind; undefined: the connection ended before. */
  next(kind: Packet['cmd']): Promise<Packet | undefined>;
  /** From now on what arrives is read and thrown away. */
  stopParsing(): void;
  /** Breaks off. */
  drop(): void;
}

const version = 5;

/** Opens a connection, from that address of this machine; nothing is sent yet. */
export async function openRaw(url: string, localAddress?: string): Promise<RawClient> {
  const { hostname, port } = new URL(url);
  const place = { host: hostname, port: Number(port), noDelay: true };
  const socket = connect(localAddress === undefined ? place : { ...place, localAddress });
  const packets: Packet[] = [];
  const reader = parser({ protocolVersion: version });
  let isClosed = false;
  let isParsing = true;
  let wake = (): void => undefined;
  reader.on('packet', (packet) => {
    packets.push(packet);
    wake();
  });
  // A reset is what an attacker expects.
  socket.on('error', () => undefined);
  socket.on('data', (chunk) => {
    if (isParsing) reader.parse(Buffer.from(chunk));
  });
  socket.on('close', () => {
    isClosed = true;
    wake();
  });
  await Promise.race([once(socket, 'connect'), once(socket, 'close')]);
  let looked = 0;
  return {
    socket,
    packets,
    get isClosed() {
      return isClosed;
    },
    get bytesRead() {
      return socket.bytesRead;
    },
    stopParsing: () => {
      isParsing = false;
    },
    async send(...list) {
      const bytes = list.map((one) =>
        Buffer.isBuffer(one) ? one : generate(one, { protocolVersion: version }),
      );
      if (isClosed || socket.write(Buffer.concat(bytes))) return;
      // A connection that is closed in the middle of a packet is an error first.
      await Promise.race([once(socket, 'drain'), once(socket, 'close')]).catch(() => undefined);
    },
    async next(kind) {
      for (;;) {
        for (; looked < packets.length; looked += 1) {
          if (packets[looked]?.cmd === kind) return packets[looked++];
        }
        if (isClosed) return undefined;
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    },
    drop: () => {
      socket.destroy();
    },
  };
}

/** CONNECT of MQTT 5, whose session is kept for an hour. */
export function connectPacket(options: Partial<IConnectPacket> = {}): IConnectPacket {
  return {
    ...{ cmd: 'connect', clientId: 'raw', clean: false, keepalive: 600 },
    ...{ protocolId: 'MQTT', protocolVersion: version },
    properties: { sessionExpiryInterval: 3_600 },
    ...options,
  };
}

/** Connects; answers undefined when it is refused or closed. */
export async function connectRaw(
  url: string,
  options: Partial<IConnectPacket> = {},
  localAddress?: string,
): Promise<RawClient | undefined> {
  const client = await openRaw(url, localAddress);
  await client.send(connectPacket(options));
  const answer = await client.next('connack');
  if (answer?.cmd === 'connack' && answer.reasonCode === 0) return client;
  client.drop();
  return undefined;
}

/** Does the same for 0 to `count` - 1, several at once. */
export async function manyTimes(
  count: number,
  work: (index: number) => Promise<unknown>,
  sideBySide = 20,
): Promise<void> {
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < count) await work(next++);
  };
  await Promise.all(Array.from({ length: sideBySide }, worker));
}
