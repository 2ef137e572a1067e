import { Resolver } from 'node:dns/promises';
import { BlockList, isIP, type LookupFunction } from 'node:net';

/**
 * Addresses outside of the public Internet: the special-purpose registries of IANA [RFC 6890], and
 * every form of IPv6 that carries an IPv4 address inside. An address in none of them is public.
 */
export const specialV4: readonly (readonly [string, number])[] = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.31.196.0', 24],
  ['192.52.193.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['192.175.48.0', 24],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
];

/** Within 2000::/3, the only part of IPv6 that is given out. */
const specialV6: readonly (readonly [string, number])[] = [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['2620:4f:8000::', 48],
  ['3fff::', 20],
];

const refused = new BlockList();
for (const [address, prefix] of specialV4) refused.addSubnet(address, prefix, 'ipv4');
for (const [address, prefix] of specialV6) refused.addSubnet(address, prefix, 'ipv6');
const globalV6 = new BlockList();
globalV6.addSubnet('2000::', 3, 'ipv6');

/** Whether an IP address, in the notation that sockets take, is on the public Internet. */
export function isPublicAddress(address: string): boolean {
  switch (isIP(address)) {
    case 4:
      return !refused.check(address, 'ipv4');
    case 6:
      // A zone (%eth0) is of this machine alone; mapped and local forms are outside of 2000::/3.
      return (
        !address.includes('%') && globalV6.check(address, 'ipv6') && !refused.check(address, 'ipv6')
      );
    default:
      return false;
  }
}

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

/**
 * Asks the name servers of the machine, any number of names at once; tests name their own. The
 * resolver of the system has two threads for all: names without an answer kept the webhooks of
 * others waiting.
 */
export function createResolve(
  options: { readonly servers?: readonly string[]; readonly timeoutMs?: number } = {},
): Resolve {
  const { servers, timeoutMs: timeout = 2_000 } = options;
  const resolver = new Resolver({ timeout, tries: 2 });
  if (servers !== undefined) resolver.setServers(servers);
  return (hostname, done) => {
    const asked = [resolver.resolve4(hostname), resolver.resolve6(hostname)] as const;
    void Promise.allSettled(asked).then(([four, six]) => {
      const found = [four, six].flatMap((one) => (one.status === 'fulfilled' ? one.value : []));
      // c-ares rejects with errors of this type.
      const reason = four.status === 'rejected' ? (four.reason as NodeJS.ErrnoException) : null;
      done(
        found.length > 0 ? null : reason,
        found.map((address) => ({ address, family: isIP(address) })),
      );
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
