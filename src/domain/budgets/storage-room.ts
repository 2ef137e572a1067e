import { type Actor, isImport } from '../actor.ts';
import { DomainError } from '../errors.ts';
import { guestUsername, type Username } from '../ids.ts';
import { createGuestShares } from './guest-shares.ts';

/** What an owner has on disk, in bytes. */
export interface StorageUse {
  readonly used: number;
  /** Absent: as much as the disk has. */
  readonly quota?: number;
}

/** What all owners have on disk. */
export interface StorageReport {
  readonly used: number;
  readonly guests: number;
  /** What guests may fill together. */
  readonly guestsMax: number;
  /** What one account may fill; absent: as much as the disk has. */
  readonly accountMax?: number;
  /** Free space of the disk; absent: it cannot be told. */
  readonly diskFree?: number;
  /** Below it guests are refused, below half of it everybody. */
  readonly diskFloor: number;
  readonly refusals: number;
  /** Who has most, the largest first. */
  readonly largest: readonly { readonly username: Username; readonly used: number }[];
}

/** Room on the disk [contract 14]: what each owner may fill, and what is left for the service. */
export interface StorageRoom {
  /**
   * Throws storage_full when the owner has used up the quota, when a guest's address has used up
   * half of what guests may fill, or when the disk is nearly full. What
   * things belong to counts, not who writes them; an administrator who imports is not held to it.
   */
  require(actor: Actor, owner: Username): void;
  /**
   * The same for what no quota counts or is to hold up: throws when the disk is nearly full for
   * this actor, or without one for everybody.
   */
  requireDisk(actor?: Actor): void;
  /** Counts what was stored; a negative number gives room back. */
  add(owner: Username, bytes: number): void;
  /** Counts what a guest stored, beside `add`, for the share of the guest's address. */
  addFor(actor: Actor, owner: Username, bytes: number): void;
  useOf(owner: Username): StorageUse;
  /** Takes over what was counted from the store. */
  recount(uses: ReadonlyMap<Username, number>): void;
  /** For administrators, with this many of those who have most. */
  report(largestMax: number): StorageReport;
  /** Bytes of all owners, those of the guest, and refusals since the start. */
  metrics(): { readonly total: number; readonly guests: number; readonly refusals: number };
}

/** The free space of the disk that holds the database, as of at most a second ago. */
export interface Disk {
  /** Undefined: it cannot be told. */
  freeBytes(): number | undefined;
}

export interface StorageRoomOptions {
  readonly guestsBytesMax: number;
  /** Absent: none. */
  readonly accountBytesMax?: number;
  /** Below this much free space guests are refused, below half of it everybody. */
  readonly diskFloorBytes: number;
  readonly disk: Disk;
}

export function createStorageRoom(options: StorageRoomOptions): StorageRoom {
  const { guestsBytesMax, accountBytesMax, diskFloorBytes, disk } = options;
  // By the username in lower case: usernames differ in more than that.
  const used = new Map<string, { readonly username: Username; readonly bytes: number }>();
  const guestShares = createGuestShares();
  let total = 0;
  let refusals = 0;

  const quotaOf = (owner: Username): number | undefined =>
    owner === guestUsername ? guestsBytesMax : accountBytesMax;
  const usedBy = (owner: Username): number => used.get(owner.toLowerCase())?.bytes ?? 0;

  function refuse(sentence: string): never {
    refusals += 1;
    throw new DomainError('storage_full', sentence);
  }

  const isDiskBelow = (floor: number): boolean => (disk.freeBytes() ?? floor) < floor;

  function requireDisk(actor?: Actor): void {
    const floor = actor?.kind === 'guest' ? diskFloorBytes : diskFloorBytes / 2;
    if (!isDiskBelow(floor)) return;
    refuse(
      'the disk is nearly full: what is stored stays readable; an administrator must make room ' +
        '(KIPIMO_DISK_FLOOR_BYTES)',
    );
  }

  return {
    require(actor, owner) {
      requireDisk(actor);
      const quota = quotaOf(owner);
      if (quota === undefined || isImport(actor)) return;
      if (usedBy(owner) < quota) {
        if (owner !== guestUsername) return;
        if (!guestShares.isUsedUp(actor, { used: usedBy(owner), max: quota })) return;
        refuse(
          `guests at your address filled half of the ${quota} bytes that all guests may: delete ` +
            'devices, log in, or ask an administrator to raise KIPIMO_QUOTA_GUESTS_BYTES',
        );
      }
      const whose = owner === guestUsername ? 'what belongs to nobody' : `what ${owner} owns`;
      const key = owner === guestUsername ? 'GUESTS' : 'ACCOUNT';
      refuse(
        `${whose} takes ${usedBy(owner)} of ${quota} bytes: delete devices or sensors, keep ` +
          `values for fewer days, or ask an administrator to raise KIPIMO_QUOTA_${key}_BYTES`,
      );
    },
    requireDisk,
    add(owner, bytes) {
      const key = owner.toLowerCase();
      const before = usedBy(owner);
      const after = Math.max(0, before + bytes);
      total += after - before;
      if (after === 0) used.delete(key);
      else used.set(key, { username: owner, bytes: after });
    },
    addFor(actor, owner, bytes) {
      if (owner === guestUsername) guestShares.add(actor, bytes);
    },
    useOf(owner) {
      const quota = quotaOf(owner);
      return { used: usedBy(owner), ...(quota !== undefined && { quota }) };
    },
    recount(uses) {
      used.clear();
      total = 0;
      for (const [owner, bytes] of uses) {
        const key = owner.toLowerCase();
        used.set(key, { username: owner, bytes: usedBy(owner) + bytes });
        total += bytes;
      }
    },
    report(largestMax) {
      const diskFree = disk.freeBytes();
      const accounts = [...used.values()].filter(({ username }) => username !== guestUsername);
      return {
        ...{ used: total, guests: usedBy(guestUsername), guestsMax: guestsBytesMax, refusals },
        ...(accountBytesMax !== undefined && { accountMax: accountBytesMax }),
        ...(diskFree !== undefined && { diskFree }),
        diskFloor: diskFloorBytes,
        largest: accounts
          .sort((one, other) => other.bytes - one.bytes)
          .slice(0, largestMax)
          .map(({ username, bytes }) => ({ username, used: bytes })),
      };
    },
    metrics: () => ({ total, guests: usedBy(guestUsername), refusals }),
  };
}
