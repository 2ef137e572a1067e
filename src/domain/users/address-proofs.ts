import { createLruCache } from '../../lib/cache.ts';
import type { Clock, Instant } from '../../lib/clock.ts';
import { codeSpelling, createCode, hashSecret } from '../../lib/secret-token.ts';
import type { Actor } from '../actor.ts';
import { networkOf, wideNetworkOf } from '../budgets/budget.ts';
import { DomainError, forbidden, invalid } from '../errors.ts';
import type { Username } from '../ids.ts';
import { limits } from '../limits.ts';
import { requireOwnAccount } from './account-access.ts';
import { countTry, type FailureLimiters } from './failure-limiters.ts';
import { type CodeChannel, type CodeSender, messageWords } from './message-language.ts';
import type { AddressProof, Profile, ProofChannel, User, UserStore } from './user.ts';

/** Numbers and separators as people write them: the same number in every spelling is one. */
const phoneSeparators = /[\s().\-/]/g;

/** Form of an address for comparing: e-mails in any case, numbers with any separators. */
export function addressKey(channel: ProofChannel, address: string): string {
  const trimmed = address.trim();
  return channel === 'email'
    ? trimmed.toLowerCase()
    : trimmed.replace(phoneSeparators, '').replace(/^00/, '+');
}

/**
 * Whether the user has proven this e-mail address or phone number. Addresses set by an
 * administrator or an import count, and those of accounts older than proofs [contract 14].
 */
export function isProven(user: User, channel: ProofChannel, address: string): boolean {
  return proofOf(user, channel, address) !== undefined;
}

/** The proof of one address, if there is one. */
export function proofOf(
  user: Pick<User, 'proofs'>,
  channel: ProofChannel,
  address: string,
): AddressProof | undefined {
  const key = addressKey(channel, address);
  return user.proofs?.find(
    (proof) => proof.channel === channel && addressKey(channel, proof.address) === key,
  );
}

/** The addresses of a profile that can be proven. */
export function provableAddresses(
  profile: Profile,
): readonly { readonly channel: ProofChannel; readonly address: string }[] {
  const emails = profile.email === undefined || profile.email === '' ? [] : [profile.email];
  return [
    ...emails.map((address) => ({ channel: 'email', address }) as const),
    ...(profile.phone ?? []).map((address) => ({ channel: 'phone', address }) as const),
  ];
}

/** Proofs of all addresses of a profile, as given by an administrator or an import. */
export function vouchedProofs(profile: Profile, provenAt: Instant): readonly AddressProof[] {
  return provableAddresses(profile).map(({ channel, address }) => ({
    ...{ channel, address, provenAt },
    by: 'administrator',
  }));
}

/**
 * The proofs after a change: `added` ones replace those of the same address, and an address that
 * left the profile takes its proof with it, since it may be another person's by now.
 */
export function proofsAfter(
  profile: Profile,
  earlier: readonly AddressProof[],
  added: readonly AddressProof[] = [],
): readonly AddressProof[] {
  const nameOf = ({ channel, address }: { channel: ProofChannel; address: string }) =>
    `${channel} ${addressKey(channel, address)}`;
  const listed = new Set(provableAddresses(profile).map(nameOf));
  const proofs = new Map([...earlier, ...added].map((proof) => [nameOf(proof), proof]));
  return [...proofs].filter(([name]) => listed.has(name)).map(([, proof]) => proof);
}

/** How well the e-mail of a profile is proven: 2 proven, 1 older than proofs, 0 not at all. */
export function emailStrength(profile: Profile, proofs: readonly AddressProof[]): 0 | 1 | 2 {
  if (profile.email === undefined) return 0;
  const proof = proofOf({ proofs }, 'email', profile.email);
  if (proof === undefined) return 0;
  return proof.by === 'earlier' ? 1 : 2;
}

interface AskedAddress {
  /** email, or phone: by sms or voice if one of these is named. */
  readonly channel: string;
  readonly address: string;
}

/** Codes live in memory: after a restart one asks for another. */
export function createAddressProving(options: {
  readonly users: UserStore;
  readonly failures: FailureLimiters;
  readonly clock: Clock;
  readonly codes: CodeSender;
  /** Takes what a message costs, in one step; answers why it cannot be paid for. */
  readonly pay: (payer: Username, channel: 'sms' | 'voice') => Promise<string | undefined>;
}) {
  const { users, clock, codes } = options;
  const pending = createLruCache<
    string,
    { readonly codeHash: string; readonly expiresAt: Instant; triesLeft: number }
  >(limits.addressCodesMax);
  const limiterOf = (name: string, failuresMax: number) =>
    options.failures.of(`proof ${name}`, { failuresMax, windowMs: limits.addressCodeMs });
  const byUser = limiterOf('user', limits.addressCodesPerUser);
  const byNetwork = limiterOf('network', limits.addressCodesPerAddress);
  const byTarget = limiterOf('target', limits.addressCodesPerTarget);
  const asked = limiterOf('asked', limits.addressCodesPerUser);
  const firstByTarget = limiterOf('first', limits.addressFirstCodesPerTarget);
  const firstByNetwork = limiterOf('first network', limits.addressFirstCodesPerNetwork);

  /** Counters of a request: codes to another person's address do not use up its owner's first. */
  function countersOf(user: User, target: string, network: string) {
    const own = [asked, `${user.id} ${target}`] as const;
    if (asked.hasFailed(own[1]) || byTarget.blockedForMs(target) === 0) {
      return [own, [byTarget, target]] as const;
    }
    const here = [firstByNetwork, `${network} ${target}`] as const;
    return [own, [firstByTarget, target], here] as const;
  }

  /** Calls and text messages cost what deliveries cost. */
  async function pay(user: User, channel: CodeChannel): Promise<void> {
    if (channel === 'email') return;
    const refusal = await options.pay(user.username, channel);
    if (refusal !== undefined) throw forbidden(refusal);
  }

  return {
    /**
     * Sends a code to an address of one's own profile. Throws invalid when the profile does not
     * have it, unavailable when the channel is not configured, rate_limited.
     */
    async request(
      actor: Actor,
      wanted: AskedAddress,
      given: { readonly address: string; readonly languages?: string | undefined },
    ): Promise<void> {
      const { address: from, languages } = given;
      const user = await requireOwnAccount(users, actor);
      const { kind, by } = channelOf(wanted.channel, codes.channels);
      const address = addressOf(user, kind, wanted.address);
      const proof = proofOf(user, kind, address);
      if (proof !== undefined && proof.by !== 'earlier') return;
      if (!codes.channels.has(by)) throw notConfigured(by);
      const key = addressKey(kind, address);
      countTry(
        'codes were asked for',
        [byUser, user.id],
        [byNetwork, networkOf(from)],
        ...countersOf(user, key, networkOf(from)),
      );
      await pay(user, by);
      const code = createCode();
      pending.set(`${user.id} ${kind} ${key}`, {
        codeHash: hashSecret(code),
        expiresAt: clock.now() + limits.addressCodeMs,
        triesLeft: limits.addressCodeTriesMax,
      });
      const text = messageWords(languages).proof(user.username, code);
      // Not awaited: a slow provider must not hold the request.
      const { username } = user;
      void codes.send({ channel: by, username, address, text, askedFrom: wideNetworkOf(from) });
    },
    /** Throws invalid when the code is wrong or too old. */
    async confirm(actor: Actor, given: AskedAddress & { readonly code: string }): Promise<void> {
      const user = await requireOwnAccount(users, actor);
      const { kind } = channelOf(given.channel, codes.channels);
      const address = addressOf(user, kind, given.address);
      const name = `${user.id} ${kind} ${addressKey(kind, address)}`;
      const code = pending.get(name);
      const isGood = code !== undefined && code.expiresAt > clock.now() && code.triesLeft > 0;
      if (!isGood || code.codeHash !== hashSecret(codeSpelling(given.code))) {
        if (code !== undefined) code.triesLeft -= 1;
        throw invalid('the code is wrong or no longer valid: ask for a new one');
      }
      pending.delete(name);
      const proof = { channel: kind, address, provenAt: clock.now(), by: 'code' } as const;
      await users.update(user.id, { proofs: [proof] });
    },
  };
}

/** Proofs that an e-mail address or phone number of the profile reaches its user [contract 14]. */
export type AddressProving = ReturnType<typeof createAddressProving>;

/** Which kind of address is meant, and how a code gets there. */
function channelOf(
  name: string,
  configured: ReadonlySet<CodeChannel>,
): { readonly kind: ProofChannel; readonly by: CodeChannel } {
  if (name === 'email') return { kind: 'email', by: 'email' };
  if (name === 'sms' || name === 'voice') return { kind: 'phone', by: name };
  if (name !== 'phone') throw invalid('channel must be email, phone, sms or voice');
  const by = configured.has('sms') || !configured.has('voice') ? 'sms' : 'voice';
  return { kind: 'phone', by };
}

/** The address as the profile has it. */
function addressOf(user: User, kind: ProofChannel, given: string): string {
  const key = addressKey(kind, given);
  const found = provableAddresses(user.profile).find(
    ({ channel, address }) => channel === kind && addressKey(kind, address) === key,
  );
  if (found !== undefined) return found.address;
  throw invalid('your profile does not have this address: save it there first');
}

const settings = { email: 'KIPIMO_SMTP_URL', sms: 'KIPIMO_SMS_URL', voice: 'KIPIMO_VOICE_URL' };

const notConfigured = (channel: CodeChannel) =>
  new DomainError(
    'unavailable',
    `the channel ${channel} is not configured: ${settings[channel]} names its provider`,
  );
