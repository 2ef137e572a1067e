import type { Server, Socket } from 'node:net';
import { noteArrival } from './event-loop.ts';
import { proxyHeaderBytesMax, readProxyHeader } from './proxy-header.ts';

/**
 * All connections of one process, on every port, from accept to close. A connection has an error
 * listener all that time, whichever protocol speaks on it and whichever server takes it over: an
 * error that a peer causes on its connection is always caught.
 */
export type ConnectionGuard = ReturnType<typeof createConnectionGuard>;

/** How many connections there may be. */
export interface ConnectionQuotas {
  /** A slot for a connection from an IP address; undefined: there is none. */
  enter(address: string, connection: SeatedConnection): ConnectionSlot | undefined;
}

/** An open connection, as far as others may need its slot. */
export interface SeatedConnection {
  /** Ends the connection to free its slot. */
  end(): void;
  /** Changes with all that the peer sends; NaN while the service owes it an answer to its login. */
  heard(): number;
}

/** The slot of one connection. */
export interface ConnectionSlot {
  leave(): void;
  /** Counts it for another address: that of the client behind a proxy. false: there is no slot. */
  move(address: string): boolean;
  /** Counts it for the account that pays for what is done on it from now on. */
  logIn(payer: string): void;
  /** The payer that the connection counts for. */
  readonly payer: string;
}

/** A socket that was accepted, or TLS on one. */
interface GuardedSocket extends Socket {
  /** The slot of a connection, and what is known of who is behind it. */
  [placeOf]?: {
    readonly slot: ConnectionSlot;
    logins: number;
    /** The address of the client that a balancer named, while TLS is between them and us. */
    client?: string;
    /** With whether the connection goes on, once it is TLS, when its client closes its half. */
    handshake?: { readonly slot: ConnectionSlot; readonly allowHalfOpen: boolean };
  };
}

const placeOf = Symbol('placeOf');

/** Counts a connection for the account that has logged in on it, wherever it was accepted. */
export function countFor(socket: GuardedSocket, payer: string): void {
  socket[placeOf]?.slot.logIn(payer);
}

/** The payer of a connection; undefined: no guard watches it. */
export function payerOfConnection(socket: GuardedSocket): string | undefined {
  return socket[placeOf]?.slot.payer;
}

/** Says that a login waits for its answer on the connection, until what it answers is called. */
export function holdForLogin(socket: GuardedSocket): () => void {
  const place = socket[placeOf];
  if (place === undefined) return () => undefined;
  place.logins += 1;
  return () => {
    place.logins -= 1;
  };
}

const goneOf = Symbol('goneOf');

/** A signal that aborts when the connection is over. */
export function goneSignal(socket: Socket & { [goneOf]?: AbortSignal }): AbortSignal {
  if (socket[goneOf] !== undefined) return socket[goneOf];
  const gone = new AbortController();
  socket[goneOf] = gone.signal;
  if (socket.destroyed) gone.abort();
  else socket.once('close', () => gone.abort());
  return gone.signal;
}

/** Why a connection was ended as soon as it was there, or, when it was silent, for another one. */
type ConnectionRefusal = 'too_many' | 'silent' | 'proxy_header' | 'renegotiation';
/** How long a balancer may take to say whose connection it is. */
const proxyHeaderMs = 5_000;
/** Trusts no address; the same function for all, so that configurations compare equal. */
export const trustsNobody = (): boolean => false;

export function createConnectionGuard(options: {
  readonly room: ConnectionQuotas;
  /** Quotas of TLS handshakes under way, beside those of their connections. */
  readonly handshakes: ConnectionQuotas;
  /** Whether the peer may name its client by the PROXY protocol; absent: none may. */
  readonly isTrustedProxy?: (address: string) => boolean;
  /** A connection was ended: there was no slot for it, or a balancer sent a wrong header. */
  readonly onRefused: (why: ConnectionRefusal) => void;
}) {
  const { room, handshakes, isTrustedProxy = trustsNobody, onRefused } = options;
  const open = new Set<Socket>();
  let isOver = false;

  const seated = (socket: GuardedSocket): SeatedConnection => ({
    end() {
      onRefused('silent');
      socket.destroy();
    },
    heard: () => (socket[placeOf]?.logins ? Number.NaN : socket.bytesRead),
  });

  /** Answers whether the connection may go on. */
  function accept(socket: GuardedSocket): boolean {
    noteArrival();
    socket.on('error', ignore);
    if (isOver) {
      socket.destroy();
      return false;
    }
    // Without an address it has left already.
    const address = socket.remoteAddress;
    const slot = address && room.enter(address, seated(socket));
    if (!slot) {
      if (address !== undefined) onRefused('too_many');
      socket.destroy();
      return false;
    }
    open.add(socket);
    socket[placeOf] = { slot, logins: 0 };
    socket.once('close', () => {
      slot.leave();
      open.delete(socket);
    });
    return true;
  }

  /** Counts the handshake of a connection that was accepted; false: there is no slot for it. */
  function beginHandshake(socket: GuardedSocket): boolean {
    const place = socket[placeOf];
    const address = place?.client ?? socket.remoteAddress ?? '';
    const slot = handshakes.enter(address, seated(socket));
    if (slot === undefined || place === undefined) {
      onRefused('too_many');
      socket.destroy();
      return false;
    }
    place.handshake = { slot, allowHalfOpen: socket.allowHalfOpen };
    // A handshake whose client has closed comes to nothing.
    socket.allowHalfOpen = false;
    socket.once('close', () => slot.leave());
    return true;
  }

  /** Ends a handshake; logins on the TLS socket count for the one that was accepted, its parent. */
  function endHandshake(socket: GuardedSocket & { readonly _parent?: GuardedSocket }): void {
    const place = socket._parent?.[placeOf];
    if (place?.handshake === undefined) return;
    const { slot, allowHalfOpen } = place.handshake;
    slot.leave();
    socket.allowHalfOpen = allowHalfOpen;
    socket[placeOf] = place;
    if (place.client !== undefined) showAddress(socket, place.client);
  }

  /** Goes on once it is known whose connection it is: a trusted balancer may say so first. */
  function introduce(socket: GuardedSocket, isTls: boolean, goOn: () => void): void {
    if (!isTrustedProxy(plainAddress(socket.remoteAddress ?? ''))) {
      goOn();
      return;
    }
    const refuse = (why: ConnectionRefusal) => {
      onRefused(why);
      socket.destroy();
    };
    const malformed = () => refuse('proxy_header');
    const arrived = (address: string | undefined) => {
      const place = socket[placeOf];
      if (address !== undefined) {
        if (place?.slot.move(address) === false) {
          refuse('too_many');
          return;
        }
        if (!isTls) showAddress(socket, address);
        else if (place !== undefined) place.client = address;
      }
      goOn();
    };
    const take = (bytes: Buffer) => {
      const header = readProxyHeader(bytes.subarray(0, proxyHeaderBytesMax));
      if (header.kind === 'cut off') return undefined;
      if (header.kind === 'malformed') return malformed;
      return () => {
        const rest = header.kind === 'whole' ? bytes.subarray(header.end) : bytes;
        if (rest.length > 0) socket.unshift(rest);
        arrived(header.kind === 'whole' ? header.address : undefined);
      };
    };
    onFirstBytes(socket, { waitMs: proxyHeaderMs, take, ended: malformed, late: malformed });
  }

  return {
    /**
     * Guards all that the server accepts from now on. To be called when the listeners of the server
     * are set: they receive a connection only after it is guarded.
     */
    watch(server: Server) {
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
      // handshake: errors from then on need a listener.
      server.prependListener('secureConnection', (socket: Socket) => {
        socket.on('error', (error: NodeJS.ErrnoException) => {
          if (error.code !== 'ERR_TLS_SESSION_ATTACK') return;
          // TLS only says that its peer asks for handshake after handshake, and goes on with it.
          onRefused('renegotiation');
          socket.destroy();
        });
        endHandshake(socket);
      });
      // A handshake that takes too long only says so; its connection would stay.
      server.prependListener('tlsClientError', (_error: Error, socket: Socket) => {
        socket.on('error', ignore);
        socket.destroy();
      });
    },
    /** Counts a connection for the client behind a proxy; false: there is no slot for it. */
    move: (socket: GuardedSocket, address: string): boolean =>
      socket[placeOf]?.slot.move(address) ?? true,
    /** Connections that are open, TLS handshakes under way included. */
    get size() {
      return open.size;
    },
    /** Ends all connections at once, and those that are still accepted as well. */
    destroyAll() {
      isOver = true;
      for (const socket of open) socket.destroy();
    },
  };
}

const plainAddress = (address: string): string => address.replace(/^::ffff:(?=\d+\.)/i, '');

/** Makes the connection one of this client, for all code that reads its address. */
function showAddress(socket: Socket, address: string): void {
  Object.defineProperty(socket, 'remoteAddress', { value: address, configurable: true });
}

/** Ignores an error: the close event of the connection follows it, and reports the end. */
const ignore = (): void => undefined;

/**
 * Sends what was written and closes. A peer that does not close its side within `goodbyeMs` would
 * keep the socket half open for ever: it is destroyed.
 */
export function endWithin(socket: Socket, goodbyeMs: number, last?: string): void {
  if (last === undefined) socket.end();
  else socket.end(last);
  // Later bytes are dropped: unread, they would turn the end into a reset, and the peer
  // might never see what was sent last.
  socket.resume();
  const impatience = setTimeout(() => socket.destroy(), goodbyeMs);
  impatience.unref();
  socket.once('close', () => clearTimeout(impatience));
}

/** Waits for the first bytes of a connection, from its accept on. */
export function onFirstBytes(
  socket: Socket,
  wait: {
    readonly waitMs: number;
    /** Answers what to do with all bytes that have come; undefined: more must come. */
    readonly take: (bytes: Buffer) => (() => void) | undefined;
    /** The client has ended its side. */
    readonly ended: () => void;
    readonly late: () => void;
    /** The wait is over, whatever its outcome; called before that. */
    readonly over?: () => void;
  },
): void {
  const { waitMs, take, ended, late, over } = wait;
  let head: Buffer = Buffer.alloc(0);
  const impatience = setTimeout(() => settle(late), waitMs);
  impatience.unref();

  function settle(act?: () => void): void {
    clearTimeout(impatience);
    socket.off('readable', read).off('close', close).off('end', end);
    over?.();
    act?.();
  }
  const close = () => settle();
  const end = () => settle(ended);

  function read(): void {
    const more: unknown = socket.read();
    // null: only the end is left to read, which 'end' reports.
    if (!Buffer.isBuffer(more)) return;
    head = head.length === 0 ? more : Buffer.concat([head, more]);
    const act = take(head);
    if (act !== undefined) settle(act);
  }
  socket.on('readable', read).on('close', close).on('end', end);
}
