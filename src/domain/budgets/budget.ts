import type { Actor } from '../actor.ts';
import { DomainError } from '../errors.ts';

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
export const payerOfAccount = (userId: string): Payer => `account/${userId}`;

/** The payers that trusted proxies are: each brings the connections of many clients. */
export const proxyPayers = 'account/proxy ';

/** The payer of a guest, or of a connection that has not logged in, at an IP address. */
export const payerAt = (address: string): Payer => `address/${networkOf(address)}`;

/** Whether a text that was kept names a payer. */
export function isPayer(text: string): text is Payer {
  return text.startsWith('account/') || text.startsWith('address/');
}

/** Whether the payer is a guest: all guests together have a quota of their own. */
export const isGuestPayer = (payer: Payer): boolean => payer.startsWith('address/');

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

/** Limits of one budget: the total, and how much of it one payer may use. */
export interface BudgetRule {
  /** Name of what is counted, in words that a refusal can use: "retained messages". */
  readonly what: string;
  readonly unit: 'bytes' | 'entries';
  /** Budget of the whole service. */
  readonly total: number;
  /** The quota of one account with all its keys: at most half of the total. */
  readonly perAccount: number;
  /** The quota of the guests at one address. */
  readonly perAddress: number;
  /** The quota of all guests together: at most half of the total. */
  readonly guests: number;
  /** Amount an account may use although the total is full, so that strangers keep nobody out. */
  readonly floor: number;
  /** How the refusal is answered [contract 14]. */
  readonly answer: keyof typeof codes;
  /** Effect that a refused client notices, for docs/limits.md. */
  readonly refused: string;
}

/** Why the budget refuses. */
export interface BudgetRefusal {
  readonly budget: string;
  /** The quota that is used up: the payer's own, that of all guests, or the total. */
  readonly scope: 'own' | 'guests' | 'total';
  readonly used: number;
  readonly max: number;
}

/** Budget of one kind, divided among payers. It only counts; its callers keep what is counted. */
export class Budget {
  readonly name: string;
  readonly rule: BudgetRule;
  readonly #used = new Map<Payer, number>();
  #total = 0;
  #ofGuests = 0;
  #refusals = 0;

  constructor(name: string, rule: BudgetRule) {
    this.name = name;
    this.rule = rule;
  }

  /**
   * Takes `amount` for the payer, in the unit of the rule, or answers why it may not. With `part`
   * (0 to 1) only so much of each quota is there for it: the rest is for what is more urgent.
   */
  take(payer: Payer, amount: number, part = 1): BudgetRefusal | undefined {
    const refusal = this.check(payer, amount, part);
    if (refusal === undefined) this.add(payer, amount);
    else this.#refusals += 1;
    return refusal;
  }

  /** Takes `amount`; throws the DomainError that says which budget is used up. */
  takeOrThrow(payer: Payer, amount: number): void {
    const refusal = this.take(payer, amount);
    if (refusal !== undefined) throw budgetError(this, refusal);
  }

  /** Answers as `take` would, without taking anything. */
  check(payer: Payer, amount: number, part = 1): BudgetRefusal | undefined {
    const { rule } = this;
    const isGuest = isGuestPayer(payer);
    const after = (this.#used.get(payer) ?? 0) + amount;
    const own = part * (isGuest ? rule.perAddress : rule.perAccount);
    if (after > own) return this.#refusal('own', after - amount, own);
    if (isGuest && this.#ofGuests + amount > part * rule.guests) {
      return this.#refusal('guests', this.#ofGuests, rule.guests);
    }
    if (this.#total + amount > part * rule.total && (isGuest || after > rule.floor)) {
      return this.#refusal('total', this.#total, rule.total);
    }
    return undefined;
  }

  /** Counts what is there already, within the budget or not: at a start. */
  add(payer: Payer, amount: number): void {
    this.#used.set(payer, (this.#used.get(payer) ?? 0) + amount);
    this.#total += amount;
    if (isGuestPayer(payer)) this.#ofGuests += amount;
  }

  /** Gives back what was taken. */
  release(payer: Payer, amount: number): void {
    const left = (this.#used.get(payer) ?? 0) - amount;
    if (left > 0) this.#used.set(payer, left);
    else this.#used.delete(payer);
    this.#total -= amount;
    if (isGuestPayer(payer)) this.#ofGuests -= amount;
  }

  get used(): number {
    return this.#total;
  }

  /** Usage of all guests together. */
  get usedByGuests(): number {
    return this.#ofGuests;
  }

  /** How often `take` refused since the start. */
  get refusals(): number {
    return this.#refusals;
  }

  usedBy(payer: Payer): number {
    return this.#used.get(payer) ?? 0;
  }

  /** The payers who use the most, the largest first. */
  largest(count: number): readonly { readonly payer: Payer; readonly used: number }[] {
    return [...this.#used]
      .map(([payer, used]) => ({ payer, used }))
      .sort((left, right) => right.used - left.used)
      .slice(0, count);
  }

  #refusal(scope: BudgetRefusal['scope'], used: number, max: number): BudgetRefusal {
    return { budget: this.name, scope, used, max };
  }
}

const codes = { rate: 'rate_limited', count: 'limit_reached' } as const;
const owners = { own: 'you use', guests: 'all guests use', total: 'the service uses' } as const;
const retryAfterSeconds = 10;

/** The refusal as an error: which budget, how much of it is used, and who may raise it. */
export function budgetError(budget: Budget, refusal: BudgetRefusal): DomainError {
  const { what, unit, answer } = budget.rule;
  const amount = unit === 'bytes' ? `${refusal.max} bytes` : `${refusal.max}`;
  return new DomainError(
    codes[answer],
    `no room for more ${what}: ${owners[refusal.scope]} ${refusal.used} of ${amount}; an ` +
      `administrator may raise the budget "${budget.name}" (KIPIMO_BUDGETS)`,
    answer === 'rate' ? { retryAfterSeconds } : {},
  );
}

/** Place of one connection in the waiting budget. */
export interface WaitingPlace {
  /** So many bytes wait from now on; 0: it is the newest again. false: no budget, not counted. */
  hold(bytes: number): boolean;
}

interface Waiting {
  readonly end: () => void;
  payer: Payer | undefined;
  bytes: number;
}

/** Waiting connections, the longest wait first. */
type Line = Set<Waiting>;
/** How many connections of accounts end for one newcomer: each asks who uses most. */
const accountsEndedMax = 64;

/** Budget of what has begun to arrive: when it is full, the connection that waits longest ends. */
export function createWaitingBudget(budget: Budget) {
  const guests: Line = new Set();
  const lines = new Map<Payer, Line>();

  function enter(waiting: Waiting, payer: Payer): void {
    waiting.payer = payer;
    const line = lines.get(payer) ?? new Set();
    lines.set(payer, line.add(waiting));
    if (isGuestPayer(payer)) guests.add(waiting);
  }

  function leave(waiting: Waiting): void {
    const { payer, bytes } = waiting;
    if (payer === undefined) return;
    budget.release(payer, bytes);
    Object.assign(waiting, { payer: undefined, bytes: 0 });
    guests.delete(waiting);
    const line = lines.get(payer);
    line?.delete(waiting);
    if (line?.size === 0) lines.delete(payer);
  }

  /** The payer who uses most; `payer`, if nobody uses more. */
  const largest = (payer: Payer): Payer =>
    lines.keys().reduce((most, of) => (budget.usedBy(of) > budget.usedBy(most) ? of : most), payer);

  /** Frees budget as long as another connection has waited longer. */
  function take(waiting: Waiting, payer: Payer, more: number): boolean {
    for (let ended = 0; ; ended += 1) {
      const refusal = budget.take(payer, more);
      if (refusal === undefined) return true;
      let line = refusal.scope === 'own' ? lines.get(payer) : guests;
      if (refusal.scope === 'total' && guests.size === Number(guests.has(waiting))) {
        line = ended < accountsEndedMax ? lines.get(largest(payer)) : undefined;
      }
      const [longest] = line ?? [];
      if (longest === undefined || longest === waiting) return false;
      leave(longest);
      longest.end();
    }
  }

  return {
    /** A place that takes nothing yet. `payerOf` is asked each time that it begins to. */
    place(options: { readonly payerOf: () => Payer; readonly end: () => void }): WaitingPlace {
      const { payerOf, end } = options;
      const waiting: Waiting = { end, payer: undefined, bytes: 0 };
      return {
        hold(bytes) {
          if (bytes === 0) leave(waiting);
          const more = bytes - waiting.bytes;
          if (more === 0) return true;
          const payer = waiting.payer ?? payerOf();
          if (more > 0 && !take(waiting, payer, more)) {
            leave(waiting);
            return false;
          }
          if (more < 0) budget.release(payer, -more);
          if (waiting.payer === undefined) enter(waiting, payer);
          waiting.bytes = bytes;
          return true;
        },
      };
    },
  };
}
export type WaitingBudget = ReturnType<typeof createWaitingBudget>;
