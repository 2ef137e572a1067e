/** Groups of devices, of each of which a process says whether it wants the values. */
export const valueGroups = 128;

/** The group of a device: the same in all versions, whose processes compare them. */
export function valueGroupOf(deviceId: string): number {
  let hash = 0;
  for (let at = 0; at < deviceId.length; at += 1) hash = (31 * hash + deviceId.charCodeAt(at)) | 0;
  return (hash >>> 0) % valueGroups;
}

/** A device whose values are wanted; `+`: those of all devices are. */
export type ValueSource = string;

/** The values that this process wants to hear of, whichever process stores them. */
export interface WantedValues {
  /** Counts somebody who wants the values of these devices, or ceases to want them. */
  count(devices: Iterable<ValueSource>, by: 1 | -1): void;
  /** Whether all values come that are stored from now on, of devices that are counted. */
  areSettled(devices: readonly ValueSource[]): boolean;
  /** Resolves when they do. Rejects with DomainError unavailable when the store is away. */
  settled(devices: readonly ValueSource[]): Promise<void>;
  /** Another process has taken this session: nothing is wanted for it here. */
  isElsewhere(session: string): void;
}

const groupBits = Array.from(
  { length: valueGroups },
  (_, at) => 1n << BigInt(valueGroups - 1 - at),
);
const all = (1n << BigInt(valueGroups)) - 1n;
const bitOf = (device: string): bigint => groupBits[valueGroupOf(device)] ?? 0n;

/** The groups that a process wants, as bits of a number, beside those that the store has. */
export function createWantedGroups() {
  const counts = new Int32Array(valueGroups);
  let ofAll = 0;
  let some = 0n;
  /** Sessions that were taken, and whose subscriptions are not known yet. */
  const behind = new Set<string>();
  /** The store has exactly these; undefined: that is not known. */
  let stored: bigint | undefined;
  let beginning = 0n;
  /** Each commit of any process writes the values of these groups. */
  let settled = 0n;
  /** The same once the commits that are under way have ended. */
  let coming = 0n;
  const wanted = (): bigint => (ofAll + behind.size > 0 ? all : some);

  return {
    behind,
    count(devices: Iterable<ValueSource>, by: 1 | -1): void {
      for (const device of devices) {
        if (device === '+') {
          ofAll += by;
          continue;
        }
        const group = valueGroupOf(device);
        const count = (counts[group] ?? 0) + by;
        counts[group] = count;
        some = count > 0 ? some | bitOf(device) : some & ~bitOf(device);
      }
    },
    areSettled(devices: readonly ValueSource[]): boolean {
      const asked = devices.reduce((sum, one) => sum | (one === '+' ? all : bitOf(one)), 0n);
      return (asked & (ofAll > 0 ? all : some) & ~settled) === 0n;
    },
    /** Groups that a commit which begins is to store, a digit each; undefined: they are there. */
    begin(): string | undefined {
      beginning = wanted();
      settled &= beginning;
      coming &= beginning;
      if (stored === beginning) return undefined;
      stored = undefined;
      return beginning.toString(2).padStart(valueGroups, '0');
    },
    /** The commit was made. */
    made(): void {
      stored = beginning;
    },
    /** The store may be another one. */
    forget(): void {
      stored = undefined;
    },
    /** `commit` makes one, and resolves when those that were under way then have ended. */
    async settle(commit: () => Promise<void>): Promise<void> {
      coming = wanted();
      await commit();
      settled |= coming;
    },
  };
}
export type WantedGroups = ReturnType<typeof createWantedGroups>;
