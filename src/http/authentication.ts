import type { IncomingHttpHeaders } from 'node:http';
import { type Actor, guest } from '../domain/actor.ts';
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
