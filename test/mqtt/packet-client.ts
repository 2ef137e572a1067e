import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { firstPacket } from './sequence-payload.ts';

/** A socket that reads whole packets, and nothing else of MQTT. */
export interface PacketClient {
  send(bytes: Buffer): void;
  /** The next packet; undefined: the other side closed. Throws when nothing comes. */
  receive(): Promise<Buffer | undefined>;
  close(): void;
}

const answerMs = 5_000;

/** Connects to a broker on this machine. */
export async function connectPackets(port: number): Promise<PacketClient> {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true });
  await once(socket, 'connect');
  const reader = readPackets(socket);
  return {
    send: (bytes) => {
      socket.write(bytes);
    },
    receive: reader,
    close: () => {
      socket.destroy();
    },
  };
}

function readPackets(socket: Socket): () => Promise<Buffer | undefined> {
  let bytes = Buffer.alloc(0);
  let isClosed = false;
  let wake = () => {};
  socket.on('data', (chunk) => {
    bytes = Buffer.concat([bytes, chunk]);
    wake();
  });
  // A reset is an end like any other here.
  socket.on('error', () => undefined);
  socket.on('close', () => {
    isClosed = true;
    wake();
  });
  return async () => {
    for (;;) {
      const packet = bytes.length === 0 ? undefined : firstPacket(bytes);
      if (packet !== undefined) {
        bytes = bytes.subarray(packet.length);
        return packet;
      }
      if (isClosed) return undefined;
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      wake = resolve;
      const late = setTimeout(() => reject(new Error('nothing was answered')), answerMs);
      await promise.finally(() => clearTimeout(late));
    }
  };
}
