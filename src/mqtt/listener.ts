import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { createServer as createTlsServer, type TLSSocket } from 'node:tls';
import { type RawData, type WebSocket, WebSocketServer } from 'ws';
import { limits } from '../domain/limits.ts';
import type { Reporter } from '../domain/reporter.ts';
import { type ConnectionGuard, countFor, holdForLogin } from '../lib/connection-guard.ts';
import { PortError } from '../lib/port-error.ts';
import { createFairSlices } from '../lib/scheduling/fair-slices.ts';
import type { TlsSource } from '../lib/tls-source.ts';
import type { Broker, Transport } from './broker.ts';
import { mqttLimits } from './limits.ts';

export interface MqttListenerOptions {
  readonly broker: Broker;
  readonly host: string;
  readonly port: number;
  /** With a certificate also MQTT over TLS, on `tlsPort`. */
  readonly tls?: TlsSource;
  readonly tlsPort: number;
  readonly reporter: Reporter;
  /** Watches the connections of all ports. */
  readonly connections: ConnectionGuard;
  /** From the first byte of TLS to the end of its handshake; absent: the usual time. */
  readonly handshakeMs?: number | undefined;
}

/** The ports of the broker. */
export function createMqttListener(options: MqttListenerOptions) {
  const { broker, host, tls, reporter } = options;
  // Half open, as those of HTTP are, until their slice comes.
  const plain = createServer({ allowHalfOpen: true }, (socket) => attach(socket));
  const secure = tls && secureServer(options, tls, (socket) => attach(socket));
  options.connections.watch(plain);
  if (secure !== undefined) options.connections.watch(secure);
  let isStopped = false;
  const webSockets = createWebSocketServer();

  function attach(socket: Socket, first?: Uint8Array): void {
    // The port of HTTP stays open a little longer: the broker would never end such a connection.
    if (isStopped) {
      socket.destroy();
      return;
    }
    const address = socket.remoteAddress ?? '';
    attachSocket({ broker, socket, address, ...(first !== undefined && { first }) });
  }

  return {
    /** Opens the ports. Throws with the name of the setting whose port cannot be opened. */
    async listen(): Promise<void> {
      await open(plain, { host, port: options.port, setting: 'KIPIMO_MQTT_PORT' });
      if (secure === undefined) return;
      try {
        await open(secure, { host, port: options.tlsPort, setting: 'KIPIMO_MQTTS_PORT' });
      } catch (error) {
        plain.close();
        throw error;
      }
    },
    get port() {
      return portOf(plain);
    },
    /** Undefined without a certificate. */
    get tlsPort() {
      return secure && portOf(secure);
    },
    /** Takes over a connection that another server accepted, with what was read from it. */
    takeOver: attach,
    /** Takes over a request for a WebSocket. */
    upgrade(request: IncomingMessage, socket: Duplex, head: Buffer, address: string): void {
      const hasRoom = options.connections.move(request.socket, address);
      if (!hasRoom) reporter.connectionRefused('too_many');
      if (isStopped || !hasRoom) {
        socket.destroy();
        return;
      }
      webSockets.handleUpgrade(request, socket, head, (webSocket) =>
        attachWebSocket({ broker, webSocket, socket: request.socket, address }),
      );
    },
    /** Accepts no more connections; open ones are the broker's to end. */
    async stop(): Promise<void> {
      isStopped = true;
      await Promise.all([closed(plain), secure && closed(secure)]);
    },
  };
}

function secureServer(
  { reporter, handshakeMs }: MqttListenerOptions,
  tls: TlsSource,
  attach: (socket: TLSSocket) => void,
): Server {
  const server = createTlsServer({
    ...tls.pair,
    handshakeTimeout: handshakeMs ?? limits.tlsHandshakeMs,
  });
  server.on('secureConnection', attach);
  server.on('tlsClientError', () => reporter.connectionRefused('tls'));
  tls.onChange((pair) => server.setSecureContext(pair));
  return server;
}

/** Names of the WebSocket subprotocols for MQTT. */
export const webSocketProtocols: readonly string[] = ['mqtt', 'mqttv3.1'];

function createWebSocketServer(): WebSocketServer {
  return new WebSocketServer({
    noServer: true,
    clientTracking: false,
    // A few bytes could unfold to gigabytes before the client has logged in.
    perMessageDeflate: false,
    // Emits one message of a connection in each iteration of the event loop: thousands of tiny
    // frames come in one read.
    allowSynchronousEvents: false,
    maxPayload: mqttLimits.webSocketMessageBytesMax,
    maxFragments: mqttLimits.webSocketFragmentsMax,
    maxBufferedChunks: mqttLimits.webSocketChunksMax,
    handleProtocols: (offered) => webSocketProtocols.find((name) => offered.has(name)) ?? false,
  });
}

async function open(
  server: Server,
  { host, port, setting }: { readonly host: string; port: number; readonly setting: string },
): Promise<void> {
  server.listen({ host, port });
  try {
    await once(server, 'listening');
  } catch (cause) {
    throw new PortError({ port, setting, cause });
  }
}

function portOf(server: Server): number {
  // Listening on TCP, so it is no path of a pipe.
  return (server.address() as AddressInfo).port;
}

function closed(server: Server): Promise<void> {
  if (!server.listening) return Promise.resolve();
  return new Promise((resolve) => {
    server.close(() => resolve());
  });
}

/** Slices in which connections end whose clients have: many may do so at once. */
const leaving = createFairSlices({ turnMs: limits.turnMs });

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
  // They stay half open by themselves: a client that left would count as connected.
  socket.on('end', () => leaving.begin(address, () => transport.end()));
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
function attachWebSocket(options: {
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
