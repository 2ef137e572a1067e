import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { createServer as createTlsServer, type TLSSocket } from 'node:tls';
import { WebSocketServer } from 'ws';
import { limits } from '../domain/limits.ts';
import type { Reporter } from '../domain/reporter.ts';
import type { ConnectionGuard } from '../lib/connection-guard.ts';
import { PortError } from '../lib/port-error.ts';
import type { TlsSource } from '../lib/tls-source.ts';
import type { Broker } from './broker.ts';
import { mqttLimits } from './limits.ts';
import { attachSocket, attachWebSocket } from './transports.ts';

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

export type MqttListener = ReturnType<typeof createMqttListener>;

/** The ports of the broker. */
export function createMqttListener(options: MqttListenerOptions) {
  const { broker, host, tls, reporter } = options;
  const plain = createServer((socket) => attach(socket));
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
