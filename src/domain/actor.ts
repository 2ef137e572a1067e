import type { Instant } from '../lib/clock.ts';
import type { Scope } from './access/scopes.ts';
import {
  type AccessKeyId,
  type DeviceId,
  guestUsername,
  sameUsername,
  type UserId,
  type Username,
} from './ids.ts';

/** Limits within which an access key acts as its owner; absent lists narrow nothing. */
export interface KeyLimits {
  readonly keyId: AccessKeyId;
  readonly scopes?: ReadonlySet<Scope>;
  readonly devices?: ReadonlySet<DeviceId>;
  /** When it was made: a device made later by another account is not one it names [contract 15]. */
  readonly createdAt?: Instant;
}

/** Caller of an operation. A key acts as its owner, within its limits. */
export type Actor =
  /** `address` distinguishes guests where budgets are divided; it gives no right. */
  | { readonly kind: 'guest'; readonly address?: string }
  | {
      readonly kind: 'user' | 'admin';
      readonly userId: UserId;
      readonly username: Username;
      readonly key?: KeyLimits;
      /** Brings data from elsewhere; counts for administrators only [contract 14]. */
      readonly isImporting?: true;
    };

/** An actor that is a person who gave a password, not a guest and not a key. */
export type Person = Extract<Actor, { kind: 'user' | 'admin' }>;

/** The actor that an account is, in person. */
export const personOf = ({
  id: userId,
  username,
  isAdmin,
}: {
  readonly id: UserId;
  readonly username: Username;
  readonly isAdmin: boolean;
}): Person => ({
  ...{ kind: isAdmin ? 'admin' : 'user', userId, username },
});

export const guest: Actor = { kind: 'guest' };
/** The guest who asks from an IP address. */
export const guestAt = (address: string): Actor => ({ kind: 'guest', address });

/**
 * The actor as one to whom actuators are shown: a key that may push to a device sees what they are
 * set to, as far as its account may [contract 15].
 */
export function asSeerOfActuators(actor: Actor): Actor {
  if (actor.kind === 'guest' || actor.key?.scopes?.has('devices-data:create') !== true) {
    return actor;
  }
  const scopes = new Set<Scope>([...actor.key.scopes, 'devices:view', 'devices-data:view']);
  return { ...actor, key: { ...actor.key, scopes } };
}

/** The account by whose name the actor acts; a guest's is the guest. */
export const usernameOf = (actor: Actor): Username =>
  actor.kind === 'guest' ? guestUsername : actor.username;

/** Whether the actor is the owner or an admin, in person: never a key. */
export function isInCharge(actor: Actor, { owner }: { readonly owner: Username }): boolean {
  if (actor.kind === 'guest' || actor.key !== undefined) return false;
  return actor.kind === 'admin' || sameUsername(actor.username, owner);
}

/** Whether an administrator brings data from elsewhere: no quota and no value limit holds. */
export function isImport(actor: Actor): boolean {
  return actor.kind === 'admin' && actor.isImporting === true;
}

/** The device of an access key that is for one alone. */
export function onlyDeviceOf(actor: Actor): DeviceId | undefined {
  const [only, ...others] = (actor.kind === 'guest' ? undefined : actor.key?.devices) ?? [];
  return others.length === 0 ? only : undefined;
}
