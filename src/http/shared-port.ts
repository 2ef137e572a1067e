import type { IncomingMessage, Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Server as TlsServer } from 'node:tls';
import { limits } from '../domain/limits.ts';

/** Another protocol on the port of HTTP: gateways dial that port with MQTT [contract 8]. */
export interface PortGuest {
  /** The first byte of its connections, which no HTTP request begins with. */
  readonly firstByte: number;
  /** Takes over a connection, with what was read from it. */
  takeOver(socket: Socket, first: Uint8Array): void;
  /** The paths on which it speaks through a WebSocket. */
  readonly webSocketPaths: ReadonlySet<string>;
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void;
}

/** The port once it is shared. */
export interface SharedPort {
  /** Ends connections that have not said anything yet, from now on too. */
  close(): void;
}

/**
 * Looks at the first bytes of each connection, and hands it to HTTP or to the guest: to HTTP with
 * everything put back, so that all it counts and times stays as it was.
 */
export function sharePort(server: Server | TlsServer, guest: PortGuest): SharedPort {
  // With TLS the event that HTTP listens to comes after the handshake.
  const event = 'setSecureContext' in server ? 'secureConnection' : 'connection';
  const http = server as Server;
  const httpListeners = http.listeners(event);
  const silent = new Set<Socket>();
  let isClosing = false;

  const toHttp = (socket: Socket): void => {
    for (const listener of httpListeners) Reflect.apply(listener, http, [socket]);
  };

  http.removeAllListeners(event);
  http.on(event, (socket: Socket) => {
    if (isClosing) {
      socket.destroy();
      return;
    }
    silent.add(socket);
    onFirstBytes(
      socket,
      () => silent.delete(socket),
      (first) => {
        if (first[0] === guest.firstByte) {
          guest.takeOver(socket, first);
        } else {
          socket.unshift(first);
          toHttp(socket);
        }
      },
      () => http.emit('clientError', tooSlow(), socket),
    );
  });
  takeUpgrades(http, guest);
  return {
    close() {
      isClosing = true;
      for (const socket of silent) socket.destroy();
    },
  };
}

/** Waits for the first bytes as long as HTTP waits for headers. */
function onFirstBytes(
  socket: Socket,
  settled: () => void,
  arrived: (first: Buffer) => void,
  waitedTooLong: () => void,
): void {
  function stop(): void {
    settled();
    socket.setTimeout(0);
    socket.off('readable', look);
    socket.off('timeout', giveUp);
    socket.off('close', stop);
    socket.off('error', ignore);
  }
  function look(): void {
    const first: unknown = socket.read();
    // null: only the end is left to read.
    if (!Buffer.isBuffer(first)) return;
    stop();
    arrived(first);
  }
  function giveUp(): void {
    stop();
    waitedTooLong();
  }
  socket.on('readable', look);
  socket.on('close', stop);
  socket.on('error', ignore);
  socket.on('timeout', giveUp);
  socket.setTimeout(limits.requestHeadersMs);
}

/** An error of a connection that said nothing is followed by its close, and of no interest. */
const ignore = (): void => undefined;

const tooSlow = (): Error =>
  Object.assign(new Error('nothing arrived'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' });

function takeUpgrades(server: Server, guest: PortGuest): void {
  // Any other request that offers an upgrade is answered as if it did not [RFC 9110 7.8].
  Object.assign(server, {
    shouldUpgradeCallback: ({ url, headers }: IncomingMessage): boolean => {
      const [path = ''] = (url ?? '').split('?', 1);
      return (
        headers.upgrade?.toLowerCase() === 'websocket' &&
        guest.webSocketPaths.has(path.replace(/\/$/, ''))
      );
    },
  });
  server.on('upgrade', guest.upgrade);
}
