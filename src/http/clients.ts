import type { IncomingMessage } from 'node:http';
import { isIP, type Socket } from 'node:net';
import { type Actor, guestAt } from '../domain/actor.ts';

/** The sender of a request, as far as the connection and trusted proxies say. */
export interface Client {
  /** The client's IP address. */
  readonly address: string;
  /** The actor of its requests without a token. */
  readonly guest: Actor;
}

/** The headers and the connection of a request, however it arrived. */
export type RequestSource = Pick<IncomingMessage, 'headers' | 'socket'>;

/** Distinguishes clients, behind proxies too [contract 14]. */
export interface Clients {
  of(request: RequestSource): Client;
  /** Whether the client itself speaks HTTPS, to us or to the proxy before us. */
  isSecure(request: RequestSource): boolean;
}

/** The client of the latest request, and what it was found by: many follow from the same one. */
interface Known extends Client {
  readonly forwarded: string | undefined;
}

const knownClient = Symbol('knownClient');
interface KnownSocket extends Socket {
  [knownClient]?: Known;
  readonly encrypted?: boolean;
}

/** `isTrustedProxy`: whose X-Forwarded-For and X-Forwarded-Proto are believed. */
export function createClients(isTrustedProxy: (address: string) => boolean): Clients {
  return {
    of(request) {
      const socket: KnownSocket = request.socket;
      const forwarded = request.headers['x-forwarded-for'] as string | undefined;
      const known = socket[knownClient];
      // Node joins repeated headers of this name to one text.
      if (known !== undefined && known.forwarded === forwarded) return known;
      const address = addressOf(socket.remoteAddress ?? '', forwarded, isTrustedProxy);
      const found = { address, guest: guestAt(address), forwarded };
      socket[knownClient] = found;
      return found;
    },
    isSecure(request) {
      const socket: KnownSocket = request.socket;
      const proxy = plainAddress(socket.remoteAddress ?? '');
      if (proxy === undefined || !isTrustedProxy(proxy)) return socket.encrypted === true;
      const said = request.headers['x-forwarded-proto'];
      const last = typeof said === 'string' ? said.split(',').at(-1)?.trim().toLowerCase() : '';
      return last === 'https' || (last === '' && socket.encrypted === true);
    },
  };
}

/**
 * The address nearest to us that is not of a trusted proxy. Addresses further left in
 * X-Forwarded-For were written by the sender, so they are not read.
 */
function addressOf(
  peer: string,
  forwarded: string | undefined,
  isTrustedProxy: (address: string) => boolean,
): string {
  let address = plainAddress(peer) ?? peer;
  if (forwarded === undefined || !isTrustedProxy(address)) return address;
  for (const part of forwarded.split(',').toReversed()) {
    const before = plainAddress(part.trim());
    // Not an address: the proxy that wrote it is the last one we know.
    if (before === undefined) return address;
    address = before;
    if (!isTrustedProxy(address)) return address;
  }
  return address;
}

const withPort = /^(?:\[([\da-fA-F:.]+)\]|(\d+\.\d+\.\d+\.\d+))(?::\d{1,5})?$/;
const mappedIPv4 = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i;

/** An IP address without port and brackets, IPv4 as such; undefined: the text is none. */
function plainAddress(text: string): string | undefined {
  const [, bracketed, dotted] = withPort.exec(text) ?? [];
  const address = bracketed ?? dotted ?? text;
  if (isIP(address) === 0) return undefined;
  return mappedIPv4.exec(address)?.[1] ?? address;
}
