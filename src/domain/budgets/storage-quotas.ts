import { type Actor, isImport, usernameOf } from '../actor.ts';
import { DomainError } from '../errors.ts';
import { guestUsername, type Username } from '../ids.ts';
import { createGuestShares, type GuestShares } from './guest-shares.ts';

/** Disk usage of all owners, in bytes. */
export interface StorageReport {
  readonly used: number;
  readonly guests: number;
  /** Limit of all guests together. */
  readonly guestsMax: number;
  /** Limit of one account; absent: as much as the disk has. */
  readonly accountMax?: number;
  /** Limit of an account that signed itself up; absent: as others. */
  readonly signUpMax?: number;
  /** Usage and limit of all such accounts together; absent limit: as much as the disk has. */
  readonly signUps: number;
  readonly signUpsMax?: number;
  /** Bytes that strangers pushed to public devices of accounts. */
  readonly strangers: number;
  /** Free space of the disk; absent: unknown. */
  readonly diskFree?: number;
  /** Below it guests are refused, below half of it every actor. */
  readonly diskFloor: number;
  readonly refusals: number;
  /** Owners of the most bytes, the largest first. */
  readonly largest: readonly { readonly username: Username; readonly used: number }[];
}

/** Quotas on the disk [contract 14]: what each owner may fill, and what is left for the service. */
export interface StorageQuotas {
  /**
   * Throws storage_full when the owner has used up the quota or would with these further bytes,
   * when a guest's address has used up half of what guests may fill, when accounts that signed
   * themselves up have filled what all of them may, or when the disk is nearly full. What things
   * belong to counts, not who writes them; an administrator who imports is not held to it.
   */
  require(actor: Actor, owner: Username, further?: number): void;
  /** Reserves quota for a stranger's push; the answer is called with the bytes stored. */
  hold(actor: Actor, owner: Username, bytes: number): (stored: number) => void;
  /** Bytes that strangers stored. */
  readonly strangers: Pick<ReturnType<typeof createStrangerQuotas>, 'add' | 'of' | 'recount'>;
  /** Says of an account whether it signed itself up. */
  setSignUp(username: Username, isSignUp: boolean): void;
  /**
   * The same for what no quota counts or is to refuse: throws when the disk is nearly full for
   * this actor, or the owner with this name, or without one for every actor.
   */
  requireDisk(who?: Actor | Username): void;
  /** Whether the disk is nearly full for some. */
  isDiskLow(): boolean;
  /** Counts what was stored; a negative number gives quota back. */
  add(owner: Username, bytes: number): void;
  /** Counts what a guest stored, beside `add`, for the quota of the guest's address. */
  addFor(actor: Actor, owner: Username, bytes: number): void;
  /** Disk usage of the owner, in bytes; without a quota: as much as the disk has. */
  useOf(owner: Username): { readonly used: number; readonly quota?: number };
  /** Takes over what was counted from the store. */
  recount(uses: ReadonlyMap<Username, number>): void;
  /** For administrators, with this many of those who have most. */
  report(largestMax: number): StorageReport;
  /** Bytes of all owners, those of some, and refusals since the start. */
  metrics(): Pick<StorageReport, 'guests' | 'signUps' | 'strangers' | 'refusals'> & {
    readonly total: number;
  };
}

/** The free space of the disk that holds the database, as of at most a second ago. */
export interface Disk {
  /** Undefined: unknown. */
  freeBytes(): number | undefined;
  /** How large it is; undefined: unknown. */
  readonly sizeBytes: number | undefined;
}

export interface StorageRoomOptions {
  readonly guestsBytesMax: number;
  /** Absent: none. */
  readonly accountBytesMax?: number;
  /** Of accounts that signed themselves up; absent: a part of the disk. */
  readonly signUpBytesMax?: number | 'none';
  /**
   * Below this much free space guests are refused, below five eighths of it accounts that signed
   * themselves up, below half of it every actor.
   */
  readonly diskFloorBytes: number;
  readonly disk: Disk;
}

/** An account that signed itself up may have a tenth of the disk, all of them half of it. */
const [signUpsPerDisk, signUpsPart] = [10, 2];
/** Once they have, each may still fill so small a part of its own quota. */
const spareParts = 64;

export function createStorageQuotas(options: StorageRoomOptions): StorageQuotas {
  const { guestsBytesMax, accountBytesMax, diskFloorBytes, disk } = options;
  const signUp = signUpLimits(options);
  // By the username in lower case: usernames differ in more than that.
  const used = new Map<string, { readonly username: Username; readonly bytes: number }>();
  const guestShares = createGuestShares();
  const strangers = createStrangerQuotas(guestShares);
  // In lower case.
  const signUpNames = new Set<string>();
  let signUps = 0;
  let total = 0;
  let refusals = 0;

  const isSignUp = (owner: Username): boolean =>
    signUpNames.size > 0 && signUpNames.has(owner.toLowerCase());
  const quotaOf = (owner: Username): number | undefined =>
    owner === guestUsername ? guestsBytesMax : isSignUp(owner) ? signUp.each : accountBytesMax;
  const usedBy = (owner: Username): number => used.get(owner.toLowerCase())?.bytes ?? 0;

  function refuse(sentence: string): never {
    refusals += 1;
    throw new DomainError('storage_full', sentence);
  }

  const isDiskBelow = (floor: number): boolean => (disk.freeBytes() ?? floor) < floor;

  /** Refuses guests first, accounts that signed themselves up next, every actor at half of it. */
  function floorPartOf(who?: Actor | Username): number {
    if (who === undefined || (typeof who !== 'string' && who.kind === 'admin')) return 1 / 2;
    const owner = typeof who === 'string' ? who : usernameOf(who);
    return owner === guestUsername ? 1 : isSignUp(owner) ? 5 / 8 : 1 / 2;
  }

  const isDiskLow = (): boolean => isDiskBelow(diskFloorBytes);

  function requireDisk(who?: Actor | Username): void {
    if (!isDiskLow() || !isDiskBelow(diskFloorBytes * floorPartOf(who))) return;
    refuse(
      'the disk is nearly full: what is stored stays readable; an administrator must make room ' +
        '(KIPIMO_DISK_FLOOR_BYTES)',
    );
  }

  /** Throws when accounts that signed themselves up have what all of them may. */
  function requireSignUps(owner: Username, bytes: number): void {
    const { all, each } = signUp;
    if (all === undefined || !isSignUp(owner) || signUps + bytes <= all) return;
    if (usedBy(owner) + bytes <= (each ?? all) / spareParts) return;
    refuse(
      `accounts that signed themselves up filled the ${all} bytes that all of them may: delete ` +
        'what you do not need, or ask an administrator to set KIPIMO_QUOTA_SIGNUP_BYTES=none',
    );
  }

  function requireGuests(actor: Actor): void {
    const all = usedBy(guestUsername) + strangers.total();
    const isUsedUp =
      actor.kind === 'guest' && guestShares.isUsedUp(actor, { used: all, max: guestsBytesMax });
    if (all < guestsBytesMax && !isUsedUp) return;
    refuse(guestsFull(isUsedUp && all < guestsBytesMax, all, guestsBytesMax));
  }

  return {
    require(actor, owner, further = 0) {
      requireDisk(actor);
      if (isImport(actor)) return;
      if (owner === guestUsername) {
        requireGuests(actor);
        return;
      }
      const quota = quotaOf(owner);
      if (quota !== undefined && usedBy(owner) + further >= quota) {
        refuse(
          `what ${owner} owns takes ${usedBy(owner)} of ${quota} bytes: delete devices or ` +
            'sensors, keep values for fewer days, or ask an administrator to raise ' +
            `KIPIMO_QUOTA_${quota === accountBytesMax ? 'ACCOUNT' : 'SIGNUP'}_BYTES`,
        );
      }
      requireSignUps(owner, further);
    },
    hold(actor, owner, bytes) {
      const limits = {
        ...{ quota: quotaOf(owner), guests: usedBy(guestUsername), guestsMax: guestsBytesMax },
      };
      try {
        return strangers.hold({ actor, owner, bytes }, limits);
      } catch (reason) {
        refusals += 1;
        throw reason;
      }
    },
    strangers,
    setSignUp(username, isOne) {
      if (isSignUp(username) === isOne) return;
      if (isOne) signUpNames.add(username.toLowerCase());
      else signUpNames.delete(username.toLowerCase());
      signUps += isOne ? usedBy(username) : -usedBy(username);
    },
    requireDisk,
    isDiskLow,
    add(owner, bytes) {
      const key = owner.toLowerCase();
      const before = usedBy(owner);
      const after = Math.max(0, before + bytes);
      total += after - before;
      if (isSignUp(owner)) signUps += after - before;
      if (after === 0) used.delete(key);
      else used.set(key, { username: owner, bytes: after });
    },
    addFor(actor, owner, bytes) {
      if (owner === guestUsername && actor.kind === 'guest') guestShares.add(actor, bytes);
    },
    useOf(owner) {
      const quota = quotaOf(owner);
      return { used: usedBy(owner), ...(quota !== undefined && { quota }) };
    },
    recount(uses) {
      used.clear();
      total = 0;
      signUps = 0;
      for (const [owner, bytes] of uses) {
        const key = owner.toLowerCase();
        used.set(key, { username: owner, bytes: usedBy(owner) + bytes });
        total += bytes;
        if (isSignUp(owner)) signUps += bytes;
      }
    },
    report(largestMax) {
      const diskFree = disk.freeBytes();
      const accounts = [...used.values()].filter(({ username }) => username !== guestUsername);
      return {
        ...{ used: total, guests: usedBy(guestUsername), guestsMax: guestsBytesMax, refusals },
        ...(accountBytesMax !== undefined && { accountMax: accountBytesMax }),
        ...(signUp.each !== undefined && { signUpMax: signUp.each }),
        ...(signUp.all !== undefined && { signUpsMax: signUp.all }),
        ...{ signUps, strangers: strangers.total() },
        ...(diskFree !== undefined && { diskFree }),
        diskFloor: diskFloorBytes,
        largest: accounts
          .sort((one, other) => other.bytes - one.bytes)
          .slice(0, largestMax)
          .map(({ username, bytes }) => ({ username, used: bytes })),
      };
    },
    metrics: () => ({
      ...{ total, signUps, refusals },
      ...{ guests: usedBy(guestUsername), strangers: strangers.total() },
    }),
  };
}

function guestsFull(isOfAddress: boolean, all: number, max: number): string {
  const remedy = 'or ask an administrator to raise KIPIMO_QUOTA_GUESTS_BYTES';
  return isOfAddress
    ? `guests at your address filled half of the ${max} bytes that all guests may: delete ` +
        `devices, log in, ${remedy}`
    : `what belongs to nobody, and what strangers pushed to public devices, takes ${all} of ` +
        `${max} bytes: delete devices or sensors, keep values for fewer days, ${remedy}`;
}

/** Limits of accounts that signed themselves up, of each and all; undefined: no limit. */
function signUpLimits({ signUpBytesMax: given, accountBytesMax, disk }: StorageRoomOptions) {
  const { sizeBytes } = disk;
  const part = (parts: number) => sizeBytes && Math.floor(sizeBytes / parts);
  if (given === 'none') return { each: accountBytesMax, all: undefined };
  const each = given ?? part(signUpsPerDisk);
  return {
    each: each === undefined ? accountBytesMax : Math.min(each, accountBytesMax ?? each),
    all: part(signUpsPart),
  };
}

const partOfQuota = 4;

/**
 * Quota for what strangers push to public devices: those who may only because they are public. It
 * takes at most a quarter of the owner's quota, and counts in the total of guests [contract 15].
 */
function createStrangerQuotas(shares: GuestShares) {
  // By the username in lower case.
  const stored = new Map<string, number>();
  const held = new Map<string, number>();
  let total = 0;

  function put(into: Map<string, number>, owner: Username, bytes: number): void {
    const key = owner.toLowerCase();
    const before = into.get(key) ?? 0;
    const after = Math.max(0, before + bytes);
    total += after - before;
    if (after === 0) into.delete(key);
    else into.set(key, after);
  }
  const usedOf = (owner: Username): number => stored.get(owner.toLowerCase()) ?? 0;

  return {
    /** Reserves quota for a push; the answer takes the bytes stored. Throws storage_full. */
    hold(
      options: { readonly actor: Actor; readonly owner: Username; readonly bytes: number },
      limits: {
        /** Of the owner of the device; absent: none. */
        readonly quota: number | undefined;
        /** Bytes that have no owner. */
        readonly guests: number;
        /** Limit of guests and strangers together. */
        readonly guestsMax: number;
      },
    ): (stored: number) => void {
      const { actor, owner, bytes } = options;
      const { quota, guests, guestsMax } = limits;
      const used = usedOf(owner) + (held.get(owner.toLowerCase()) ?? 0);
      const max = quota === undefined ? undefined : Math.floor(quota / partOfQuota);
      if (max !== undefined && used + bytes > max) {
        throw full(
          `others pushed ${used} of the ${max} bytes to what ${owner} owns that they may, a ` +
            'quarter of its quota: its owner must share the device with you',
        );
      }
      const ofAll = guests + total;
      if (ofAll + bytes > guestsMax || shares.isUsedUp(actor, { used: ofAll, max: guestsMax })) {
        throw full(
          `guests, and strangers on public devices, filled what they may of ${guestsMax} bytes: ` +
            `${owner} must share the device with you, or an administrator raise ` +
            'KIPIMO_QUOTA_GUESTS_BYTES',
        );
      }
      put(held, owner, bytes);
      return (bytesStored) => {
        put(held, owner, -bytes);
        shares.add(actor, bytesStored);
      };
    },
    /** Counts what was stored; a negative number gives quota back. */
    add: (owner: Username, bytes: number) => put(stored, owner, bytes),
    of: usedOf,
    /** Bytes of all owners that are stored or about to be. */
    total: () => total,
    /** Takes over what was counted from the store. */
    recount(uses: ReadonlyMap<Username, number>): void {
      for (const bytes of stored.values()) total -= bytes;
      stored.clear();
      for (const [owner, bytes] of uses) put(stored, owner, bytes);
    },
  };
}

const full = (sentence: string): DomainError => new DomainError('storage_full', sentence);
