import type { FastifyRequest } from 'fastify';
import { invalid } from '../domain/errors.ts';

/** The fields of a route that this module reads. */
interface RoutePath {
  readonly method: string;
  readonly path: string;
}

/** Ids that the service makes: no client has one that is `.` or `..`. */
const madeHere: ReadonlySet<string> = new Set([':correction_id']);

/**
 * Whether the path of `route` with a slash behind it may be what a client made of another one.
 * Clients take `.` and `..` out of a path before they send it (RFC 3986, 5.2.4), encoded or not:
 * `DELETE /devices/D/grants/..` arrives as `DELETE /devices/D/`, and would end the device.
 */
export function mayBeLedBackTo(route: RoutePath, routes: readonly RoutePath[]): boolean {
  if (route.method !== 'DELETE') return false;
  const target = route.path.split('/');
  return routes.some(({ method, path }) => {
    const parts = path.split('/');
    const id = parts.at(-1);
    if (method !== 'DELETE' || !id?.startsWith(':') || madeHere.has(id)) return false;
    return [1, 2].some((dropped) => covers(target, parts.slice(0, -dropped)));
  });
}

function covers(pattern: readonly string[], parts: readonly string[]): boolean {
  return (
    pattern.length === parts.length &&
    pattern.every((part, at) => part.startsWith(':') || part === parts[at])
  );
}

/** Throws invalid when the client ended the path with a slash. */
export function requireNoTrailingSlash({ originalUrl }: FastifyRequest): void {
  if (!/^[^?#]*\/(?:[?#]|$)/.test(originalUrl)) return;
  throw invalid(
    'a DELETE here must not end with a slash: some programs make that of a path that ends ' +
      'with "." or "..", and something else would be deleted; leave the slash out',
  );
}
