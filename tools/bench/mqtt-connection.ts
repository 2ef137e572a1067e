import { connect, type Socket } from 'node:net';
import { inParallel } from '../parallel.ts';
import {
  connectPacket,
  createPacketReader,
  type MqttLogin,
  type OnPacket,
  packetTypes,
  subscribePacket,
} from './mqtt-packets.ts';

/** One connection of the load generator, logged in. */
export interface MqttConnection {
  write(bytes: Buffer): void;
  /** Hears every packet from now on, instead of who heard them before. */
  listen(onPacket: OnPacket): void;
  /** Resolves when the broker granted the subscription. */
  subscribe(filter: string, qos: 0 | 1): Promise<void>;
  close(): void;
}

const ignore: OnPacket = () => undefined;
/** One buffer for all: what a chunk holds is read before the next one comes. */
const readBytes = 65_536;

/** Opens a connection and logs in; `onFailure` hears when the broker closes it later. */
export function openMqttConnection(options: {
  readonly port: number;
  readonly login: MqttLogin;
  readonly buffer: Buffer;
  /** Of this machine, that the connection comes from; absent: the system chooses. */
  readonly localAddress?: string | undefined;
  readonly onFailure: (error: Error) => void;
}): Promise<MqttConnection> {
  const { port, login, buffer, localAddress, onFailure } = options;
  let listener = ignore;
  let isClosing = false;
  const read = createPacketReader((...packet) => listener(...packet));
  const socket: Socket = connect({
    port,
    host: '127.0.0.1',
    noDelay: true,
    ...(localAddress !== undefined && { localAddress }),
    onread: {
      buffer,
      callback: (count) => {
        read(buffer.subarray(0, count));
        return true;
      },
    },
  });
  /** Waits for one packet of this type; throws away what else comes meanwhile. */
  const expect = (type: number, isGood: (code: number) => boolean) =>
    new Promise<void>((resolve, reject) => {
      listener = (first, bytes, _bodyAt, endAt) => {
        if (first >> 4 !== type) return;
        listener = ignore;
        const code = bytes[endAt - 1] ?? 0xff;
        if (isGood(code)) resolve();
        else reject(new Error(`port ${port} refused packet type ${type - 1} with code ${code}`));
      };
    });
  const connection: MqttConnection = {
    write: (bytes) => void socket.write(bytes),
    listen(onPacket) {
      listener = onPacket;
    },
    async subscribe(filter, qos) {
      const granted = expect(packetTypes.suback, (code) => code < 0x80);
      socket.write(subscribePacket(1, filter, qos));
      await granted;
    },
    close() {
      isClosing = true;
      socket.destroy();
    },
  };
  return new Promise((resolve, reject) => {
    socket.once('error', ({ message }) => reject(new Error(`port ${port}: ${message}`)));
    socket.once('close', () => {
      const error = new Error(`port ${port} closed a connection`);
      reject(error);
      if (!isClosing) onFailure(error);
    });
    socket.once('connect', () => {
      const accepted = expect(packetTypes.connack, (code) => code === 0);
      socket.write(connectPacket(login));
      accepted.then(() => resolve(connection), reject);
    });
  });
}

/** Opens many, this many at a time. */
export async function openMqttConnections(options: {
  readonly port: number;
  readonly count: number;
  readonly parallel: number;
  readonly login: (index: number) => MqttLogin;
  /** Where each comes from; absent: the system chooses. */
  readonly addressOf?: (index: number) => string | undefined;
  readonly onFailure: (error: Error) => void;
}): Promise<readonly MqttConnection[]> {
  const { port, count, parallel, login, addressOf, onFailure } = options;
  const buffer = Buffer.allocUnsafe(readBytes);
  const opened: MqttConnection[] = [];
  const indexes = Array.from({ length: count }, (_, index) => index);
  try {
    await inParallel(indexes, parallel, async (index) => {
      const localAddress = addressOf?.(index);
      opened.push(
        await openMqttConnection({ port, login: login(index), buffer, localAddress, onFailure }),
      );
    });
  } catch (error) {
    for (const connection of opened) connection.close();
    throw error;
  }
  return opened;
}
