import type { Instant } from '../../lib/clock.ts';
import type { AccessKeyId, DeviceId, GatewayId, UserId, Username } from '../ids.ts';
import type { Listing, ListPart } from '../listing.ts';

/** Details that users give about themselves; every field may be absent. */
export interface Profile {
  readonly firstName?: string;
  readonly lastName?: string;
  readonly email?: string;
  /** Phone numbers with their country codes. */
  readonly phone?: readonly string[];
  readonly address?: readonly string[];
  readonly facebook?: readonly string[];
  /** Account ids without the @ sign. */
  readonly twitter?: readonly string[];
  /** URLs of the user's own, to which messages are posted. */
  readonly webhook?: readonly string[];
}

/** Addresses of these kinds are proven with a code that is sent to them. */
export type ProofChannel = 'email' | 'phone';

/** Proof that an address of the profile reaches this user [contract 14]. */
export interface AddressProof {
  readonly channel: ProofChannel;
  readonly address: string;
  readonly provenAt: Instant;
  /** earlier: the account is older than proofs, so that its alerts do not fall silent. */
  readonly by: 'code' | 'administrator' | 'earlier';
}

export interface User {
  readonly id: UserId;
  readonly username: Username;
  readonly createdAt: Instant;
  readonly profile: Profile;
  readonly isAdmin: boolean;
  /** A disabled account keeps its things, and can neither log in nor use tokens or keys. */
  readonly isDisabled: boolean;
  /** Made by itself, since such accounts have a quota of their own [contract 15]. */
  readonly isSignUp?: true;
  /** Another user chose the password, and it was not changed since. */
  readonly isPasswordInitial?: true;
  /** When a password was last right, or a staying browser was used; to a day. Absent: never. */
  readonly lastLoginAt?: Instant;
  /** Deliveries by sms or voice left; absent: without limit. */
  readonly smsCredit?: number;
  /** Of addresses that are in the profile; absent: none. */
  readonly proofs?: readonly AddressProof[];
  /**
   * Secret that signs messages to the webhook, shown to this user only. Absent: the account is
   * older than stored secrets, and its secret follows from the installation's and its name.
   */
  readonly webhookSecret?: string;
}

/** An account that is made now: a name that is free again gets nothing of who had it before. */
export interface NewUser extends User {
  readonly webhookSecret: string;
}

/** Changes to an account; a profile field set to undefined is removed. */
export interface UserChanges {
  readonly profile?: { readonly [Field in keyof Profile]: Profile[Field] | undefined };
  readonly isAdmin?: boolean;
  readonly isDisabled?: boolean;
  readonly smsCredit?: number | 'unlimited';
  /** Proofs that come new; an address that leaves the profile takes its proof with it. */
  readonly proofs?: readonly AddressProof[];
}

export type UserListing = Listing<'users', User>;

/** An account with the hash of its password. */
export interface StoredLogin {
  readonly user: User;
  readonly passwordHash: string;
}

/** Things that went with an account, by id. */
export interface RemovedThings {
  readonly devices: readonly DeviceId[];
  readonly gateways: readonly GatewayId[];
}

export interface PasswordOptions {
  readonly keysMadeBefore?: Instant;
  readonly exceptSession?: string;
  readonly isInitial?: true;
}

/** Where accounts are kept. Usernames are unique and found without regard to case. */
export interface UserStore {
  insert(user: NewUser, passwordHash: string): Promise<'inserted' | 'duplicate'>;
  find(id: UserId): Promise<User | undefined>;
  /** Reads these accounts, as far as they exist, in order of creation. */
  some(ids: readonly UserId[]): Promise<readonly User[]>;
  findByUsername(username: string): Promise<User | undefined>;
  /** By username, in any case of letters. */
  findLogin(username: string): Promise<StoredLogin | undefined>;
  /**
   * The first two accounts with this e-mail address, in any case of letters: those that proved it
   * before those older than proofs before the others, and the oldest first.
   */
  findByEmail(email: string): Promise<readonly StoredLogin[]>;
  /** Keeps that the account was logged in to then, and from this network; the newest of them. */
  rememberNetwork(id: UserId, network: string, at: Instant): Promise<void>;
  /** Whether the account was logged in to from this network before. */
  knowsNetwork(id: UserId, network: string): Promise<boolean>;
  /** In order of creation; `username` narrows to that one. */
  list(page: ListPart & { readonly username?: string }): Promise<UserListing>;
  /** Disabling an account also ends its tokens and keys, in the same step. */
  update(id: UserId, changes: UserChanges): Promise<'updated' | 'missing'>;
  /**
   * Sets the password and ends all of the user's tokens, all logins that stay but one, and the
   * keys made before a time, in one step. The answer names the keys that ended. `isInitial`:
   * another user chose the password.
   */
  setPassword(
    id: UserId,
    passwordHash: string,
    options?: PasswordOptions,
  ): Promise<{ readonly endedKeys: readonly AccessKeyId[] } | 'missing'>;
  /**
   * Removes the account with everything that is its own: tokens, keys, grants given and received,
   * devices with their datapoints, gateways, projects, social messages sent and received. In one
   * step. The answer names the devices and gateways that went.
   */
  remove(id: UserId): Promise<RemovedThings | 'missing'>;
  /** Accounts that were made by themselves, since such have a quota of their own. */
  signUps(): Promise<readonly Username[]>;
  /** Admins who can log in: those that are not disabled. */
  countAdmins(): Promise<number>;
}
