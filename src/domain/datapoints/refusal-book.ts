import type { Instant } from '../../lib/clock.ts';

/** What was wrong with a push, as plainly as its sender can be told. */
export type PushProblem =
  | 'no_key'
  | 'wrong_key'
  | 'not_allowed'
  | 'unknown_device'
  | 'unknown_sensor'
  | 'wrong_path'
  | 'unreadable'
  | 'clock_ahead'
  | 'too_large'
  | 'too_often'
  | 'no_room'
  | 'unavailable';

/** One push that was refused, or several alike. Nothing of what was in it. */
export interface RefusedPush {
  /** The last time. */
  readonly at: Instant;
  readonly problem: PushProblem;
  readonly via: 'http' | 'mqtt';
  /** As the sender spelt them; absent: the refusal came before anything was named. */
  readonly deviceId?: string;
  readonly sensorId?: string;
  readonly count: number;
}

export type NewRefusal = Omit<RefusedPush, 'count'>;

/** How much is remembered. */
export interface RefusalBookLimits {
  /** Of one device, or of what an account sent to devices that are not there. */
  readonly perPageMax: number;
  readonly bytesPerOwnerMax: number;
  readonly bytesMax: number;
}

interface Page {
  refusals: readonly RefusedPush[];
  bytes: number;
}

/** Pages of one owner, those written last at the end. */
interface Shelf {
  readonly pages: Map<string, Page>;
  bytes: number;
}

const pageBytes = 300;
const refusalBytes = 200;

/**
 * The last refusals, by owner and page; in memory alone. What is alike is counted, so that a flood
 * of one kind hides no other; an owner who has much forgets the own oldest pages first.
 */
export function createRefusalBook(limits: RefusalBookLimits) {
  // By the username in lower case; who was written for last is at the end.
  const shelves = new Map<string, Shelf>();
  let bytes = 0;

  function resize(shelf: Shelf, page: Page, size: number): void {
    shelf.bytes += size - page.bytes;
    bytes += size - page.bytes;
    page.bytes = size;
  }

  function dropOldest(owner: string, shelf: Shelf): void {
    const [oldest] = shelf.pages;
    if (oldest === undefined) return;
    const [name, page] = oldest;
    resize(shelf, page, 0);
    shelf.pages.delete(name);
    if (shelf.pages.size === 0) shelves.delete(owner);
  }

  return {
    /** Writes it on a page, which becomes the newest of its owner. */
    write(owner: string, name: string, refusal: NewRefusal): void {
      const key = owner.toLowerCase();
      const shelf = shelves.get(key) ?? { pages: new Map<string, Page>(), bytes: 0 };
      const page = shelf.pages.get(name) ?? { refusals: [], bytes: 0 };
      const alike = page.refusals.find((one) => isAlike(one, refusal));
      const others = page.refusals.filter((one) => one !== alike);
      page.refusals = [...others, { ...refusal, count: (alike?.count ?? 0) + 1 }].slice(
        -limits.perPageMax,
      );
      shelves.delete(key);
      shelves.set(key, shelf);
      shelf.pages.delete(name);
      shelf.pages.set(name, page);
      resize(shelf, page, sizeOf(name, page.refusals));
      while (shelf.bytes > limits.bytesPerOwnerMax) dropOldest(key, shelf);
      while (bytes > limits.bytesMax) {
        const [oldest] = shelves;
        if (oldest === undefined) break;
        dropOldest(...oldest);
      }
    },
    /** Oldest first. */
    read: (owner: string, name: string): readonly RefusedPush[] =>
      shelves.get(owner.toLowerCase())?.pages.get(name)?.refusals ?? [],
    /** What it takes, about. */
    get bytes() {
      return bytes;
    },
  };
}

export type RefusalBook = ReturnType<typeof createRefusalBook>;

const isAlike = (one: RefusedPush, other: NewRefusal): boolean =>
  one.problem === other.problem &&
  one.via === other.via &&
  one.deviceId === other.deviceId &&
  one.sensorId === other.sensorId;

/** Two bytes for each character, and what objects take around them. */
function sizeOf(name: string, refusals: readonly RefusedPush[]): number {
  const texts = refusals.reduce(
    (sum, { deviceId = '', sensorId = '' }) => sum + deviceId.length + sensorId.length,
    name.length,
  );
  return pageBytes + refusals.length * refusalBytes + 2 * texts;
}
