import { printable } from '../../src/cli/printable.ts';
import { invalid } from '../../src/domain/errors.ts';

/** For fetch: an answer that redirects is read, not followed. */
export const unfollowed = { redirect: 'manual' } as const;

/** A service that sends its callers elsewhere. */
export class RedirectError extends Error {}

/** Throws RedirectError when the answer points elsewhere: tokens are for the address given. */
export function requireNoRedirect(url: string, response: Response): void {
  const to = response.headers.get('location');
  if (response.status < 300 || response.status > 399 || to === null) return;
  const target = URL.canParse(to, response.url) ? new URL(to, response.url).href : to;
  throw new RedirectError(
    `${url} points to ${printable(target).slice(0, 300)}, where nothing was sent: ` +
      'if that is the service you mean, give its address',
  );
}

/** Throws for a path with a part `.` or `..`, which would be taken out on the way. */
export function requirePlainPath(path: string): void {
  const [plain = ''] = path.split(/[?#]/, 1);
  if (!/\/(?:\.|%2e){1,2}(?:\/|$)/i.test(plain)) return;
  throw invalid(`${printable(path)}: an id "." or ".." cannot be written in an address`);
}
