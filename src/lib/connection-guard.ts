import type { Server, Socket } from 'node:net';

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

export function createConnectionGuard({
  room,
  handshakes,
  onRefused,
}: {
  readonly room: ConnectionRoom;
  /** Room for TLS handshakes under way, beside that of their connections. */
  readonly handshakes: ConnectionRoom;
  /** A connection was ended because there was no room for it. */
  readonly onRefused: () => void;
}): ConnectionGuard {
  const open = new Set<Socket>();
  const slots = new WeakMap<Socket, ConnectionSlot>();
  // By the peer's address and port, as TLS tells of a socket of its own.
  const shaking = new Map<string, ConnectionSlot>();
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
      if (address !== undefined) onRefused();
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
    const slot = handshakes.enter(socket.remoteAddress ?? '', () => socket.destroy());
    if (slot === undefined) {
      onRefused();
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

  return {
    watch(server) {
      const isTls = 'setSecureContext' in server;
      const listeners = server.listeners('connection');
      server.removeAllListeners('connection');
      server.on('connection', (socket: Socket) => {
        if (!accept(socket) || (isTls && !beginHandshake(socket))) return;
        for (const listener of listeners) Reflect.apply(listener, server, [socket]);
      });
      // TLS puts a socket of its own before the one that was accepted, and lets go of it after the
      // handshake: errors from then on are for whoever listens.
      server.prependListener('secureConnection', (socket: Socket) => {
        socket.on('error', ignore);
        endHandshake(socket);
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
