import type { Server, Socket } from 'node:net';
import { readClientOf } from './proxied-socket.ts';

/**
 * All connections of one process, on every port, from accept to close. A connection has an error
 * listener all that time, whichever protocol speaks on it and whoever it is handed to: what a peer
 * does to its connection can never be an error that nobody catches.
 */
export interface ConnectionGuard {
  /**
   * Guards all that the server accepts from now on. To be called when the listeners of the server
   * are set: they are told of a connection only after it is guarded.
   */
  watch(server: Server): void;
  /**
   * Counts a connection for the client behind a proxy; false: there is no room for it. TLS
   * connections stay with who opened them.
   */
  move(socket: Socket, address: string): boolean;
  /** Connections that are open, TLS handshakes under way included. */
  readonly size: number;
  /** Ends all connections at once, and those that are still accepted as well. */
  destroyAll(): void;
}

/** How many connections there may be. */
export interface ConnectionRoom {
  /** A slot for a connection from an IP address, which `end` ends; undefined: there is none. */
  enter(address: string, end: () => void): ConnectionSlot | undefined;
}

/** The place of one connection. */
export interface ConnectionSlot {
  leave(): void;
  /** Counts it for another address: that of the client behind a proxy. false: there is no room. */
  move(address: string): boolean;
}

/** Why a connection was ended as soon as it was there. */
export type ConnectionRefusal = 'too_many' | 'proxy_header';

/** How long a balancer may take to say whose connection it is. */
const proxyHeaderMs = 5_000;

export function createConnectionGuard({
  room,
  handshakes,
  isTrustedProxy = () => false,
  onRefused,
}: {
  readonly room: ConnectionRoom;
  /** Room for TLS handshakes under way, beside that of their connections. */
  readonly handshakes: ConnectionRoom;
  /** Who may say, by the PROXY protocol, whose connection it is; absent: nobody. */
  readonly isTrustedProxy?: (address: string) => boolean;
  /** A connection was ended: there was no room for it, or a balancer said what is wrong. */
  readonly onRefused: (why: ConnectionRefusal) => void;
}): ConnectionGuard {
  const open = new Set<Socket>();
  const slots = new WeakMap<Socket, ConnectionSlot>();
  // By the peer's address and port, as TLS tells of a socket of its own.
  const shaking = new Map<string, ConnectionSlot>();
  /** Addresses of clients that balancers told, while TLS is between them and us. */
  const clients = new Map<string, string>();
  let isOver = false;

  /** Answers whether the connection may go on. */
  function accept(socket: Socket): boolean {
    socket.on('error', ignore);
    if (isOver) {
      socket.destroy();
      return false;
    }
    // Without an address it has left already.
    const address = socket.remoteAddress;
    const slot = address && room.enter(address, () => socket.destroy());
    if (!slot) {
      if (address !== undefined) onRefused('too_many');
      socket.destroy();
      return false;
    }
    open.add(socket);
    slots.set(socket, slot);
    socket.once('close', () => {
      slot.leave();
      open.delete(socket);
    });
    return true;
  }

  /** Counts the handshake of a connection that was accepted; false: there is no room for it. */
  function beginHandshake(socket: Socket): boolean {
    const peer = peerOf(socket);
    const address = clients.get(peer) ?? socket.remoteAddress ?? '';
    const slot = handshakes.enter(address, () => socket.destroy());
    if (slot === undefined) {
      onRefused('too_many');
      socket.destroy();
      return false;
    }
    shaking.set(peer, slot);
    socket.once('close', () => {
      slot.leave();
      if (shaking.get(peer) === slot) shaking.delete(peer);
    });
    return true;
  }

  function endHandshake(socket: Socket): void {
    const peer = peerOf(socket);
    shaking.get(peer)?.leave();
    shaking.delete(peer);
  }

  function rememberClient(socket: Socket, address: string): void {
    const peer = peerOf(socket);
    clients.set(peer, address);
    socket.once('close', () => {
      if (clients.get(peer) === address) clients.delete(peer);
    });
  }

  /** Goes on once it is known whose connection it is. */
  function introduce(socket: Socket, isTls: boolean, goOn: () => void): void {
    if (!isTrustedProxy(plainAddress(socket.remoteAddress ?? ''))) {
      goOn();
      return;
    }
    const refuse = (why: ConnectionRefusal) => {
      onRefused(why);
      socket.destroy();
    };
    const arrived = (address: string | undefined) => {
      if (address !== undefined) {
        if (slots.get(socket)?.move(address) === false) {
          refuse('too_many');
          return;
        }
        if (isTls) rememberClient(socket, address);
        else showAddress(socket, address);
      }
      goOn();
    };
    const refused = () => refuse('proxy_header');
    readClientOf(socket, { waitMs: proxyHeaderMs, outcome: { arrived, refused } });
  }

  return {
    watch(server) {
      const isTls = 'setSecureContext' in server;
      const listeners = server.listeners('connection');
      server.removeAllListeners('connection');
      server.on('connection', (socket: Socket) => {
        if (!accept(socket)) return;
        introduce(socket, isTls, () => {
          if (isTls && !beginHandshake(socket)) return;
          for (const listener of listeners) Reflect.apply(listener, server, [socket]);
        });
      });
      // TLS puts a socket of its own before the one that was accepted, and lets go of it after the
      // handshake: errors from then on are for whoever listens.
      server.prependListener('secureConnection', (socket: Socket) => {
        socket.on('error', ignore);
        endHandshake(socket);
        const address = clients.get(peerOf(socket));
        if (address !== undefined) showAddress(socket, address);
      });
      // A handshake that takes too long only says so; its connection would stay.
      server.prependListener('tlsClientError', (_error: Error, socket: Socket) => {
        socket.on('error', ignore);
        socket.destroy();
      });
    },
    move: (socket, address) => slots.get(socket)?.move(address) ?? true,
    get size() {
      return open.size;
    },
    destroyAll() {
      isOver = true;
      for (const socket of open) socket.destroy();
    },
  };
}

const peerOf = ({ remoteAddress, remotePort }: Socket): string => `${remoteAddress} ${remotePort}`;

const plainAddress = (address: string): string => address.replace(/^::ffff:(?=\d+\.)/i, '');

/** From here on the connection is one of this client, for whoever asks. */
function showAddress(socket: Socket, address: string): void {
  Object.defineProperty(socket, 'remoteAddress', { value: address, configurable: true });
}

/** Whoever wants to know that a connection ended listens to its close, which follows an error. */
const ignore = (): void => undefined;

/**
 * Sends what was written and closes. A peer that does not close its side within `goodbyeMs` would
 * keep the socket half open for ever: it is destroyed.
 */
export function endWithin(socket: Socket, goodbyeMs: number, last?: string): void {
  if (last === undefined) socket.end();
  else socket.end(last);
  // What still arrives is dropped: unread bytes would turn the end into a reset, and the peer
  // might never see what was sent last.
  socket.resume();
  const impatience = setTimeout(() => socket.destroy(), goodbyeMs);
  impatience.unref();
  socket.once('close', () => clearTimeout(impatience));
}
