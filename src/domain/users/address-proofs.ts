import type { Instant } from '../../lib/clock.ts';
import type { AddressProof, Profile, ProofChannel, User } from './user.ts';

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
