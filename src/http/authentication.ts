import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { isIP, type Socket } from 'node:net';
import { type Actor, guest, guestAt } from '../domain/actor.ts';
import { unauthenticated } from '../domain/errors.ts';
import { accessKeyPrefix } from '../domain/users/credential-directory.ts';
import type { Sessions } from '../domain/users/sessions.ts';
import { createLruCache } from '../lib/cache.ts';

/** Finds the actor of a request by its Authorization header. Throws unauthenticated. */
export interface Authenticate {
  (authorization: string | undefined): Promise<Actor>;
  /** The same at once, for a secret that was looked up a moment ago; undefined: not known. */
  peek?(authorization: string | undefined): Actor | undefined;
}

/** Authorization headers that are remembered with the secret that they hold. */
const headersKept = 1_024;
const headerCharactersMax = 512;

/**
 * Bearer tokens and access keys, and Basic with an access key as the password of any username; no
 * header, an empty one or a bare `Bearer` is the guest.
 */
export function createAuthenticate(sessions: Sessions): Authenticate {
  // A connection sends the same header each time.
  const secrets = createLruCache<string, string>(headersKept);
  const secretOf = (authorization: string | undefined): string | undefined => {
    if (authorization === undefined) return undefined;
    const known = secrets.get(authorization);
    if (known !== undefined) return known;
    const secret = bearerSecret(authorization);
    const isShort = authorization.length <= headerCharactersMax;
    if (secret !== undefined && isShort) secrets.set(authorization, secret);
    return secret;
  };
  const peek = (authorization: string | undefined): Actor | undefined => {
    const secret = secretOf(authorization);
    return secret === undefined ? guest : sessions.peek(secret);
  };
  const authenticate = async (authorization: string | undefined): Promise<Actor> => {
    const secret = bearerSecret(authorization);
    return secret === undefined ? guest : sessions.authenticate(secret);
  };
  return Object.assign(authenticate, { peek });
}

/**
 * The actor, who imports if the request says so [contract 14]. `kipimo import` always says it; it
 * counts for administrators only, and grants no right.
 */
export function importing(actor: Actor, headers: IncomingHttpHeaders): Actor {
  if (actor.kind !== 'admin' || headers['kipimo-import'] !== 'true') return actor;
  return { ...actor, isImporting: true };
}

const usualHeader = /^Bearer [\w-]+$/;

/** The token or key in an Authorization header; double quotes around a token are taken off. */
export function bearerSecret(authorization: string | undefined): string | undefined {
  if (authorization === undefined) return undefined;
  // The usual form, which every push has.
  if (usualHeader.test(authorization)) return authorization.slice('Bearer '.length);
  const header = authorization.trim();
  if (header === '' || /^bearer$/i.test(header)) return undefined;
  const match = /^bearer\s+"?([^\s"]+)"?$/i.exec(header);
  if (match?.[1] === undefined) {
    const password = basicCredentials(header)?.password.trim();
    if (password?.startsWith(accessKeyPrefix) === true) return password;
    throw unauthenticated(
      'the Authorization header must be: Bearer <token>, or Basic with an access key as password',
    );
  }
  return match[1];
}

/** Username and password of HTTP Basic [RFC 7617]. */
export function basicCredentials(
  authorization: string | undefined,
): { username: string; password: string } | undefined {
  const match = /^basic\s+([\w+/=-]+)$/i.exec(authorization?.trim() ?? '');
  if (match?.[1] === undefined) return undefined;
  const text = Buffer.from(match[1], 'base64').toString('utf8');
  const colon = text.indexOf(':');
  if (colon < 0) return undefined;
  return { username: text.slice(0, colon), password: text.slice(colon + 1) };
}

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
export type Clients = ReturnType<typeof createClients>;
const knownClient = Symbol('knownClient');
interface KnownSocket extends Socket {
  /** The client of the latest request, and what it was found by: many follow from the same one. */
  [knownClient]?: Client & { readonly forwarded: string | undefined };
  readonly encrypted?: boolean;
}

/** `isTrustedProxy`: whose X-Forwarded-For and X-Forwarded-Proto are believed. */
export function createClients(isTrustedProxy: (address: string) => boolean) {
  return {
    of(request: RequestSource): Client {
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
    /** Whether the client itself speaks HTTPS, to us or to the proxy before us. */
    isSecure(request: RequestSource): boolean {
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
