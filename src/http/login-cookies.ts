import { limits } from '../domain/limits.ts';
import type { RequestSource } from './clients.ts';
import { cookieOf, cookieText } from './cookies.ts';
import type { Site } from './site.ts';

/** The two cookies of logins. Each is sent to one path alone, so that nothing else can read it. */
const session = { name: 'kipimo_session', path: '/api/v2/auth/renew' };
const device = { name: 'kipimo_device', path: '/api/v2/auth/token' };
const deviceAgeSeconds = 365 * 24 * 60 * 60;

/** Reads and writes the cookies of logins [contract 13, 14]. */
export interface LoginCookies extends Pick<Site, 'isOwnPage' | 'isForeignPage'> {
  /** The session cookie, if a page of this service sends it. */
  sessionOf(request: RequestSource): string | undefined;
  deviceOf(request: RequestSource): string | undefined;
  session(request: RequestSource, value: string): string;
  endOfSession(request: RequestSource): string;
  device(request: RequestSource, value: string): string;
}

export function createLoginCookies(site: Site): LoginCookies {
  return {
    isOwnPage: (request) => site.isOwnPage(request),
    isForeignPage: (request) => site.isForeignPage(request),
    sessionOf: (request) =>
      site.isOwnPage(request) ? cookieOf(request.headers.cookie, session.name) : undefined,
    deviceOf: (request) => cookieOf(request.headers.cookie, device.name),
    session(request, value) {
      const ageSeconds = limits.sessionMs / 1_000;
      return cookieText({ ...session, value, ageSeconds, isSecure: site.isSecure(request) });
    },
    endOfSession: (request) =>
      cookieText({ ...session, value: '', ageSeconds: 0, isSecure: site.isSecure(request) }),
    device: (request, value) =>
      cookieText({
        ...{ ...device, value, ageSeconds: deviceAgeSeconds },
        isSecure: site.isSecure(request),
      }),
  };
}
