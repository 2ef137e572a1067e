import type { Payer } from '../budgets/payer.ts';
import type { DeviceId } from '../ids.ts';

/** A push that was handed to the store. */
interface HandedOver {
  readonly isStored: Promise<void>;
}

/**
 * Pushes of one payer to one device that are not handed to the store at once: none overtakes
 * another, however long its lookups take. Other pushes wait for nothing.
 */
export interface PushQueue {
  isEmpty(): boolean;
  /** Whether a push is under way: the next one waits behind it. */
  has(payer: Payer, deviceId: DeviceId): boolean;
  /**
   * Runs the work, which waits to be next in the queue before it hands anything over; undefined:
   * it has nothing to. Resolves when that is stored; throws what the work throws.
   */
  add(
    payer: Payer,
    deviceId: DeviceId,
    work: (turn: Promise<void>) => Promise<HandedOver | undefined>,
  ): Promise<void>;
}

export function createPushQueue(): PushQueue {
  /** When the last one of each payer and device was handed over. */
  const last = new Map<string, Promise<void>>();
  const keyOf = (payer: Payer, deviceId: DeviceId): string => `${payer} ${deviceId}`;
  return {
    isEmpty: () => last.size === 0,
    has: (payer, deviceId) => last.has(keyOf(payer, deviceId)),
    async add(payer, deviceId, work) {
      const key = keyOf(payer, deviceId);
      const turn = last.get(key) ?? Promise.resolve();
      const working = work(turn);
      const over = working
        .then(ignore, ignore)
        .then(() => turn)
        .finally(() => {
          if (last.get(key) === over) last.delete(key);
        });
      last.set(key, over);
      await (await working)?.isStored;
    },
  };
}

const ignore = (): void => undefined;
