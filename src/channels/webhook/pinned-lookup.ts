import { lookup } from 'node:dns';
import type { LookupFunction } from 'node:net';
import { isPublicAddress } from './address-filter.ts';

/** A name that leads somewhere a webhook may not go. */
class ForbiddenAddressError extends Error {
  readonly code = 'FORBIDDEN_ADDRESS';

  constructor() {
    super('the name leads to a private address');
    this.name = 'ForbiddenAddressError';
  }
}

/** Asks for all addresses of a name; tests give their own. */
export type Resolve = (
  hostname: string,
  done: (
    error: NodeJS.ErrnoException | null,
    addresses: { address: string; family: number }[],
  ) => void,
) => void;

/** The machine's own resolver, hosts file included. */
export const systemResolve: Resolve = (hostname, done) => {
  lookup(hostname, { all: true, verbatim: true }, done);
};

/**
 * A look-up for sockets: the name is resolved once, and the socket connects to what was judged.
 * One private address among public ones refuses the name: nobody honest has such a name.
 */
export function createPinnedLookup(
  resolve: Resolve,
  isAllowed: (address: string) => boolean = isPublicAddress,
): LookupFunction {
  return (hostname, options, callback) => {
    resolve(hostname, (error, addresses) => {
      const first = addresses?.[0];
      if (error !== null || first === undefined) {
        callback(error ?? Object.assign(new Error('no address'), { code: 'ENOTFOUND' }), '', 0);
      } else if (!addresses.every(({ address }) => isAllowed(address))) {
        callback(new ForbiddenAddressError(), '', 0);
      } else if (options.all === true) {
        callback(null, addresses);
      } else {
        callback(null, first.address, first.family);
      }
    });
  };
}
