import { limits } from '../domain/limits.ts';
import type { Clients, RequestSource } from './authentication.ts';

/** Whether a browser's page is of this service: cookies are not for other pages. */
export type Site = ReturnType<typeof createSite>;

/** `publicUrl` names the origin; without it, that of a page must have the host of the request. */
export function createSite(options: { readonly clients: Clients; readonly publicUrl?: string }) {
  const { clients, publicUrl } = options;
  const own = publicUrl === undefined ? undefined : new URL(publicUrl).origin;

  /** Whether the request was sent by a page of this service, as its Origin says. */
  function isOwnPage(request: RequestSource): boolean {
    const { origin, host } = request.headers;
    if (origin === undefined || !URL.canParse(origin)) return false;
    if (own !== undefined) return new URL(origin).origin === own;
    // Over HTTPS a page without it is another one; proxies that are not trusted may hide HTTPS.
    if (clients.isSecure(request) && new URL(origin).protocol !== 'https:') return false;
    // Both without the port that the scheme implies: browsers leave it out of either.
    return host !== undefined && new URL(origin).host === hostOf(host, new URL(origin).protocol);
  }

  /** Whether the client itself speaks HTTPS. */
  const isSecure = (request: RequestSource): boolean =>
    own?.startsWith('https:') === true || clients.isSecure(request);

  return {
    isOwnPage,
    /** Whether the request was sent by a page of another service. */
    isForeignPage: (request: RequestSource) =>
      request.headers.origin !== undefined && !isOwnPage(request),
    isSecure,
    /** Where the client reaches this service; empty where the request names no host. */
    originOf(request: RequestSource): string {
      if (own !== undefined) return own;
      const protocol = isSecure(request) ? 'https:' : 'http:';
      const host = hostOf(request.headers.host ?? '', protocol);
      return host === undefined ? '' : `${protocol}//${host}`;
    },
  };
}

function hostOf(host: string, protocol: string): string | undefined {
  const url = `${protocol}//${host}`;
  return URL.canParse(url) ? new URL(url).host : undefined;
}

/** For documents of the routes: no page, no HTTPS. */
export const noSite: Site = {
  isOwnPage: () => false,
  isForeignPage: () => false,
  isSecure: () => false,
  originOf: () => '',
};

/** A cookie of logins, sent to one path alone, so that nothing else can read it. */
interface LoginCookie {
  readonly name: string;
  readonly path: string;
  readonly ageSeconds: number;
}

const session: LoginCookie = {
  ...{ name: 'kipimo_session', path: '/api/v2/auth/renew' },
  ageSeconds: limits.sessionMs / 1_000,
};
const device: LoginCookie = {
  ...{ name: 'kipimo_device', path: '/api/v2/auth/token' },
  ageSeconds: 365 * 24 * 60 * 60,
};

/**
 * Reads the cookies of logins, and writes the values of Set-Cookie for them [contract 13, 14].
 *
 * Over HTTPS cookies have the prefix `__Secure-` [RFC 6265bis, 4.1.3.1]: a page over plain HTTP
 * cannot put one in their place. Cookies without it, of earlier versions, are read until they end.
 */
export function createLoginCookies(site: Site) {
  function readCookie({ name }: LoginCookie, { headers: { cookie } }: RequestSource) {
    return cookieOf(cookie, securePrefix + name) ?? cookieOf(cookie, name);
  }

  function set(cookie: LoginCookie, request: RequestSource, value: string): readonly string[] {
    const isSecure = site.isSecure(request);
    if (!isSecure) return [cookieText({ ...cookie, value, isSecure })];
    const text = cookieText({ ...cookie, name: securePrefix + cookie.name, value, isSecure });
    const hasPlain = cookieOf(request.headers.cookie, cookie.name) !== undefined;
    return hasPlain ? [text, cookieText({ ...ended(cookie), isSecure })] : [text];
  }

  return {
    /** The session cookie, if a page of this service sends it. */
    sessionOf: (request: RequestSource) =>
      site.isOwnPage(request) ? readCookie(session, request) : undefined,
    deviceOf: (request: RequestSource) => readCookie(device, request),
    session: (request: RequestSource, value: string) => set(session, request, value),
    // The browser sends the cookie to its own path alone, so its name is not known here.
    endOfSession(request: RequestSource): readonly string[] {
      const isSecure = site.isSecure(request);
      const names = isSecure ? [securePrefix + session.name, session.name] : [session.name];
      return names.map((name) => cookieText({ ...ended(session), name, isSecure }));
    },
    device: (request: RequestSource, value: string) => set(device, request, value),
  };
}

const securePrefix = '__Secure-';
const ended = (cookie: LoginCookie) => ({ ...cookie, value: '', ageSeconds: 0 });

/** The value of one cookie of a request; the first, where there are several of the name. */
export function cookieOf(header: string | undefined, name: string): string | undefined {
  for (const part of header?.split(';') ?? []) {
    const [key = '', value] = part.trim().split('=', 2);
    if (key === name) return value;
  }
  return undefined;
}

/** A cookie that no script reads and no other site sends [RFC 6265bis]. An age of 0 ends it. */
export function cookieText(cookie: {
  readonly name: string;
  readonly value: string;
  readonly path: string;
  readonly ageSeconds: number;
  readonly isSecure: boolean;
}): string {
  const { name, value, path, ageSeconds, isSecure } = cookie;
  const flags = ['HttpOnly', 'SameSite=Strict', ...(isSecure ? ['Secure'] : [])];
  return [`${name}=${value}`, `Path=${path}`, `Max-Age=${ageSeconds}`, ...flags].join('; ');
}
