import type { Socket } from 'node:net';
import type { RawData, WebSocket } from 'ws';
import { limits } from '../domain/limits.ts';
import { countFor, holdForLogin } from '../lib/connection-guard.ts';
import type { Broker, Transport } from './broker.ts';

/** Joins a TCP or TLS socket to the broker; `first` was read from it already. */
export function attachSocket(options: {
  readonly broker: Broker;
  readonly socket: Socket;
  readonly address: string;
  readonly first?: Uint8Array;
}): void {
  const { broker, socket, address, first } = options;
  const transport = socketTransport(socket);
  const receiver = broker.accept(transport, address);
  socket.setNoDelay(true);
  socket.on('data', (chunk: Buffer) => receiver.receive(chunk));
  socket.on('drain', () => receiver.drained());
  // Sockets of HTTP stay half open by themselves: a client that left would count as connected.
  socket.on('end', () => transport.end());
  // Errors need no handling here: 'close' follows.
  socket.on('error', () => undefined);
  socket.on('close', () => receiver.closed());
  if (first !== undefined) receiver.receive(first);
}

function socketTransport(socket: Socket): Transport {
  let isEnding = false;
  return {
    write(bytes) {
      if (!isEnding && socket.writable) socket.write(bytes);
    },
    get bufferedBytes() {
      return socket.writableLength;
    },
    end() {
      if (isEnding) return;
      isEnding = true;
      socket.end();
      // A peer that neither reads nor closes would keep the socket open.
      const impatience = setTimeout(() => socket.destroy(), limits.goodbyeMs);
      impatience.unref();
      socket.once('close', () => clearTimeout(impatience));
    },
    destroy: () => {
      socket.destroy();
    },
    pause: () => {
      socket.pause();
    },
    resume: () => {
      socket.resume();
    },
    countFor: (payer) => countFor(socket, payer),
    holdForLogin: () => holdForLogin(socket),
  };
}

const unsupportedData = 1003;
const normalClosure = 1000;

/** Joins a WebSocket to the broker; packets may begin and end anywhere in its messages. */
export function attachWebSocket(options: {
  readonly broker: Broker;
  readonly webSocket: WebSocket;
  /** The socket below the WebSocket. */
  readonly socket: Socket;
  readonly address: string;
}): void {
  const { broker, webSocket, socket, address } = options;
  const transport = webSocketTransport(webSocket, socket, () => receiver.drained());
  const receiver = broker.accept(transport, address);
  webSocket.on('message', (data, isBinary) => {
    // [MQTT-6.0.0-1]
    if (!isBinary) webSocket.close(unsupportedData, 'MQTT is binary');
    else if (data instanceof Uint8Array) receiver.receive(data);
  });
  countUnfinished(webSocket, socket, (bytes) => receiver.held(bytes));
  // Errors need no handling here: 'close' follows.
  webSocket.on('error', () => undefined);
  webSocket.on('close', () => receiver.closed());
}

/**
 * Reports how much has arrived of an unfinished message: it is gathered before it is handed on. Of
 * fragmented messages a little more is reported, as the heads of their frames are not seen.
 */
function countUnfinished(
  webSocket: WebSocket,
  socket: Socket,
  tell: (bytes: number) => void,
): void {
  let unfinished = 0;
  let chunkBytes = 0;
  const finished = (data: RawData): void => {
    const length = Buffer.isBuffer(data) ? data.length : 0;
    unfinished = Math.max(0, Math.min(unfinished - frameBytes(length), chunkBytes));
    // Messages come one by one, after the chunk that they ended in.
    tell(unfinished);
  };
  webSocket.on('message', finished);
  webSocket.on('ping', finished);
  webSocket.on('pong', finished);
  // Before the chunk is parsed; and after, as a message that ends in it is not kept.
  socket.prependListener('data', (chunk: Buffer) => {
    chunkBytes = chunk.length;
    unfinished += chunk.length;
  });
  socket.on('data', () => tell(unfinished));
}

const frameHeadBytes = 6;
const shortPayloadMax = 125;
const twoBytePayloadMax = 65_535;

/** How long the frame of a client is [RFC 6455, 5.2]. */
function frameBytes(payload: number): number {
  const lengthBytes = payload > twoBytePayloadMax ? 8 : payload > shortPayloadMax ? 2 : 0;
  return frameHeadBytes + lengthBytes + payload;
}

function webSocketTransport(webSocket: WebSocket, socket: Socket, drained: () => void): Transport {
  let isEnding = false;
  const sent = (): void => {
    if (webSocket.bufferedAmount === 0) drained();
  };
  return {
    write(bytes) {
      if (!isEnding && webSocket.readyState === webSocket.OPEN) {
        webSocket.send(bytes, { binary: true }, sent);
      }
    },
    get bufferedBytes() {
      return webSocket.bufferedAmount;
    },
    end() {
      if (isEnding) return;
      isEnding = true;
      webSocket.close(normalClosure);
      const impatience = setTimeout(() => webSocket.terminate(), limits.goodbyeMs);
      impatience.unref();
      webSocket.once('close', () => clearTimeout(impatience));
    },
    destroy: () => webSocket.terminate(),
    pause: () => webSocket.pause(),
    resume: () => webSocket.resume(),
    countFor: (payer) => countFor(socket, payer),
    holdForLogin: () => holdForLogin(socket),
  };
}
