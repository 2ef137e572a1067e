import type { Actor } from '../actor.ts';

/**
 * Payer of a budget: an account with all its keys, or the address of a guest. IPv6 addresses count
 * by their /64 network, since that is what one customer is given [RFC 6177].
 */
export type Payer = `account/${string}` | `address/${string}`;

/** The payer of what happens without any address, for instance inside the service itself. */
const unknownAddress: Payer = 'address/unknown';

/** The payer of each login: many requests follow from the same one. */
const ofLogins = new WeakMap<Actor, Payer>();

/** Payer of what an actor does. */
export function payerOf(actor: Actor): Payer {
  // Each request of a guest has an actor of its own.
  if (actor.kind === 'guest') {
    return actor.address === undefined ? unknownAddress : payerAt(actor.address);
  }
  const known = ofLogins.get(actor);
  if (known !== undefined) return known;
  const payer = payerOfAccount(actor.userId);
  ofLogins.set(actor, payer);
  return payer;
}

/** The payer of an account and all its keys. */
export function payerOfAccount(userId: string): Payer {
  return `account/${userId}`;
}

/** The payer of a guest, or of a connection that has not logged in, at an IP address. */
export function payerAt(address: string): Payer {
  return `address/${networkOf(address)}`;
}

/** Whether a text that was kept names a payer. */
export function isPayer(text: string): text is Payer {
  return text.startsWith('account/') || text.startsWith('address/');
}

/** Whether the payer is a guest: all guests together have a quota of their own. */
export function isGuestPayer(payer: Payer): boolean {
  return payer.startsWith('address/');
}

/** The crowd that a payer belongs to: all of it together has quotas, too. */
export const kindOf = (payer: Payer): 'guests' | 'accounts' =>
  isGuestPayer(payer) ? 'guests' : 'accounts';

const mappedIPv4 = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i;
const groupsPerNetwork = 4;
const groupsPerAddress = 8;

/** An IPv4 address as it is, an IPv6 address as its /64 network; other texts as they are. */
export function networkOf(address: string): string {
  const mapped = mappedIPv4.exec(address)?.[1];
  if (mapped !== undefined) return mapped;
  if (!address.includes(':')) return address;
  const [bare = ''] = address.split('%', 1);
  const [head = '', tail] = bare.split('::', 2);
  const first = head === '' ? [] : head.split(':');
  const last = tail === undefined || tail === '' ? [] : tail.split(':');
  const gap = tail === undefined ? 0 : Math.max(0, groupsPerAddress - first.length - last.length);
  const groups = [...first, ...Array.from({ length: gap }, () => '0'), ...last];
  const network = groups.slice(0, groupsPerNetwork).map((group) => group.replace(/^0+(?=.)/, ''));
  return `${network.join(':').toLowerCase()}::/64`;
}

/**
 * The /24 of an IPv4 address, the /48 of an IPv6 address: a client that rents addresses has many of
 * one such network, and counts as one payer in queues.
 */
export function wideNetworkOf(address: string): string {
  const network = networkOf(address);
  if (network.includes(':')) return `${network.split(':', 3).join(':')}::/48`;
  const host = network.lastIndexOf('.');
  return host < 0 ? network : `${network.slice(0, host)}.0/24`;
}
