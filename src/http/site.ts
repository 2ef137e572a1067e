import type { Clients, RequestSource } from './clients.ts';

/** Whether a browser's page is of this service: cookies are not for other pages. */
export interface Site {
  /** Whether the request was sent by a page of this service, as its Origin says. */
  isOwnPage(request: RequestSource): boolean;
  /** Whether it was sent by a page of another service. */
  isForeignPage(request: RequestSource): boolean;
  /** Whether the client itself speaks HTTPS. */
  isSecure(request: RequestSource): boolean;
  /** Where the client reaches this service; empty where the request names no host. */
  originOf(request: RequestSource): string;
}

/** `publicUrl` names the origin; without it, that of a page must have the host of the request. */
export function createSite(options: {
  readonly clients: Clients;
  readonly publicUrl?: string;
}): Site {
  const { clients, publicUrl } = options;
  const own = publicUrl === undefined ? undefined : new URL(publicUrl).origin;

  function isOwnPage(request: RequestSource): boolean {
    const { origin, host } = request.headers;
    if (origin === undefined || !URL.canParse(origin)) return false;
    if (own !== undefined) return new URL(origin).origin === own;
    // Over HTTPS a page without it is another one; proxies that are not trusted may hide HTTPS.
    if (clients.isSecure(request) && new URL(origin).protocol !== 'https:') return false;
    // Both without the port that the scheme implies: browsers leave it out of either.
    return host !== undefined && new URL(origin).host === hostOf(host, new URL(origin).protocol);
  }

  const isSecure = (request: RequestSource): boolean =>
    own?.startsWith('https:') === true || clients.isSecure(request);

  return {
    isOwnPage,
    isForeignPage: (request) => request.headers.origin !== undefined && !isOwnPage(request),
    isSecure,
    originOf(request) {
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
