import type { IncomingMessage, Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Server as TlsServer } from 'node:tls';
import type { WaitingBudget } from '../domain/budgets/budget.ts';
import { onFirstBytes } from '../lib/connection-guard.ts';
import type { Clients } from './authentication.ts';
import type { FastPath } from './fast-path/fast-path.ts';
import { createNodeHttp, gateOf, type NodeHttp } from './request-gate.ts';
import { requestLimits } from './request-limits.ts';

/** Another protocol on the port of HTTP: gateways dial that port with MQTT [contract 8]. */
export interface ProtocolHandler {
  /** The first byte of its connections, which no HTTP request begins with. */
  readonly firstByte: number;
  /** Takes over a connection, with what was read from it. */
  takeOver(socket: Socket, first: Uint8Array): void;
  /** The paths on which it speaks through a WebSocket. */
  readonly webSocketPaths: ReadonlySet<string>;
  /** WebSocket subprotocols that name it at the root, for clients that were given no path. */
  readonly webSocketProtocols: readonly string[];
  /** `address` is the client's, behind a proxy too. */
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer, address: string): void;
}

/**
 * Reads the first bytes of each connection, and hands it to the protocolHandler, to the fast path,
 * or to HTTP: to HTTP with everything put back, so that all it counts and times stays as it was.
 */
export function sharePort(
  server: Server | TlsServer,
  {
    protocolHandler,
    clients,
    waiting,
    openFastPath,
    ...ofNode
  }: Omit<Parameters<typeof createNodeHttp>[1], 'listeners' | 'room'> & {
    /** The budget of requests that are not whole, and of those that wait. */
    readonly waiting: WaitingBudget;
    readonly protocolHandler: ProtocolHandler;
    readonly clients: Clients;
    /** Absent: all requests take the Fastify path. */
    readonly openFastPath?: (node: NodeHttp) => FastPath;
  },
) {
  // With TLS the event that HTTP listens to comes after the handshake.
  const event = 'setSecureContext' in server ? 'secureConnection' : 'connection';
  const http = server as Server;
  const node = createNodeHttp(http, { ...ofNode, listeners: http.listeners(event), room: waiting });
  const fastPath = openFastPath?.(node);
  const silent = new Set<Socket>();
  let isClosing = false;

  http.removeAllListeners(event);
  http.on(event, (socket: Socket) => {
    if (isClosing) {
      socket.destroy();
      return;
    }
    silent.add(socket);
    onFirstBytes(socket, {
      waitMs: Math.min(ofNode.headersMs, requestLimits.firstByteMs),
      take: (first) => () => {
        if (first[0] === protocolHandler.firstByte) {
          protocolHandler.takeOver(socket, first);
        } else if (fastPath?.take(socket, first) !== true) {
          node.takeOver(socket, first, false);
        }
      },
      ended: () => void socket.end(),
      late: () => node.refuse(socket, 'too slow'),
      over: () => silent.delete(socket),
    });
  });
  takeUpgrades(http, protocolHandler, clients);
  return {
    /** Ends connections that have not said anything yet, from now on too. */
    close(): void {
      isClosing = true;
      for (const socket of silent) socket.destroy();
      fastPath?.close();
      node.close();
    },
  };
}

function takeUpgrades(server: Server, protocolHandler: ProtocolHandler, clients: Clients): void {
  const { webSocketProtocols } = protocolHandler;
  // Any other request that offers an upgrade is answered as if it did not [RFC 9110 7.8].
  Object.assign(server, {
    shouldUpgradeCallback: ({ url, headers }: IncomingMessage): boolean => {
      if (headers.upgrade?.toLowerCase() !== 'websocket') return false;
      const path = (url ?? '').split('?', 1)[0]?.replace(/\/$/, '') ?? '';
      if (protocolHandler.webSocketPaths.has(path)) return true;
      const offered = headers['sec-websocket-protocol']?.split(',') ?? [];
      return path === '' && offered.some((name) => webSocketProtocols.includes(name.trim()));
    },
  });
  server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    const rest = gateOf(request.socket)?.release() ?? head;
    protocolHandler.upgrade(request, socket, rest, clients.of(request).address);
  });
}
