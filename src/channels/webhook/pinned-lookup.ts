import { Resolver } from 'node:dns/promises';
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

/** How the name servers of the machine are asked; tests name their own. */
export interface ResolveOptions {
  readonly servers?: readonly string[];
  readonly timeoutMs?: number;
}

const timeoutMsUsually = 2_000;

/**
 * Asks the name servers of the machine, any number of names at once. The resolver of the system has
 * two threads for all: names without an answer kept the webhooks of others waiting.
 */
export function createResolve(options: ResolveOptions = {}): Resolve {
  const resolver = new Resolver({ timeout: options.timeoutMs ?? timeoutMsUsually, tries: 2 });
  if (options.servers !== undefined) resolver.setServers(options.servers);
  return (hostname, done) => {
    const asked = [resolver.resolve4(hostname), resolver.resolve6(hostname)] as const;
    void Promise.allSettled(asked).then(([four, six]) => {
      const addresses = [
        ...(four.status === 'fulfilled' ? four.value : []).map((address) => ({
          ...{ address, family: 4 },
        })),
        ...(six.status === 'fulfilled' ? six.value : []).map((address) => ({
          ...{ address, family: 6 },
        })),
      ];
      // c-ares rejects with errors of this type.
      const reason = four.status === 'rejected' ? (four.reason as NodeJS.ErrnoException) : null;
      done(addresses.length > 0 ? null : reason, addresses);
    });
  };
}

/**
 * A look-up for sockets: the name is resolved once, and the socket connects to what was judged. One
 * private address among public ones refuses the name: no honest receiver has such a name.
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
