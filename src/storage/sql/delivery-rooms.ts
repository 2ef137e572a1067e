import { limits } from '../../domain/limits.ts';

/** Whose delivery is filed: of which notification, and who pays. */
interface Filed {
  readonly position: number;
  readonly owner: string;
}

/**
 * How many more deliveries may wait, of each notification and of each payer: counted once for the
 * firings of a commit, since to count thousands takes longer than to file one.
 */
export interface DeliveryRooms {
  /** Whether it was told how many deliveries of the notification, or of the payer, wait. */
  isKnown(filed: Filed): { readonly notification: boolean; readonly payer: boolean };
  /** So many wait: each count may end at its limit. */
  tell(filed: Filed, waiting: { readonly notification?: number; readonly payer?: number }): void;
  /** Takes the place of one delivery; answers false when there is none. */
  take(filed: Filed): boolean;
}

/** Nothing is known yet. */
export function createDeliveryRooms(): DeliveryRooms {
  const ofNotification = new Map<number, number>();
  const ofPayer = new Map<string, number>();
  return {
    isKnown: ({ position, owner }) => ({
      notification: ofNotification.has(position),
      payer: ofPayer.has(owner.toLowerCase()),
    }),
    tell({ position, owner }, { notification, payer }) {
      const { deliveriesPendingMax, deliveriesPendingPerPayerMax } = limits;
      if (notification !== undefined) {
        ofNotification.set(position, deliveriesPendingMax - notification);
      }
      if (payer !== undefined) {
        ofPayer.set(owner.toLowerCase(), deliveriesPendingPerPayerMax - payer);
      }
    },
    take({ position, owner }) {
      const payer = owner.toLowerCase();
      const own = ofNotification.get(position) ?? 0;
      const all = ofPayer.get(payer) ?? 0;
      if (own <= 0 || all <= 0) return false;
      ofNotification.set(position, own - 1);
      ofPayer.set(payer, all - 1);
      return true;
    },
  };
}
