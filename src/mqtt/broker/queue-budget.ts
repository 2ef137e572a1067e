import type { Budget } from '../../domain/budgets/budget.ts';
import type { Payer } from '../../domain/budgets/payer.ts';
import type { Parcel } from './parcel.ts';
import type { Session } from './session.ts';

/** The quota of queued messages, divided among the payers of their sessions. */
export interface QueueBudget {
  /** Takes quota for an entry of the session; false: none is left. */
  take(session: Session, parcel: Parcel): boolean;
  /** Counts an entry of before the start, however full the quota is. */
  restore(session: Session, parcel: Parcel | undefined): void;
  /** Releases the message of an entry, though the entry may go on. */
  letGo(payer: Payer, parcel: Parcel): void;
  /** An entry is over. */
  settle(payer: Payer): void;
}

/** An entry of a queue, with the maps that hold it. */
const entryBytes = 256;
/** Part of each quota that sessions without a connection may use; the rest is for the others. */
const partOfAbsent = 0.75;

export function createQueueBudget(bytes: Budget): QueueBudget {
  function take(session: Session, parcel: Parcel): boolean {
    const { payer } = session;
    const amount = entryBytes + (parcel.bearer === undefined ? parcel.bytes : 0);
    if (!mayTake(session, amount)) return false;
    hold(payer, parcel);
    return true;
  }

  /** Takes the amount. */
  function mayTake({ payer, link, entries }: Session, amount: number): boolean {
    if (link === undefined) return bytes.take(payer, amount, partOfAbsent) === undefined;
    // A connected client with an empty queue gets its message, however full other queues are.
    const isServed = (entries?.size ?? 0) === 0 && bytes.check(payer, amount)?.scope !== 'own';
    if (!isServed) return bytes.take(payer, amount) === undefined;
    bytes.add(payer, amount);
    return true;
  }

  function hold(payer: Payer, parcel: Parcel): void {
    parcel.bearer ??= payer;
    parcel.holders.set(payer, (parcel.holders.get(payer) ?? 0) + 1);
  }

  function letGo(payer: Payer, parcel: Parcel): void {
    const left = (parcel.holders.get(payer) ?? 0) - 1;
    if (left > 0) {
      parcel.holders.set(payer, left);
      return;
    }
    parcel.holders.delete(payer);
    if (parcel.bearer !== payer) return;
    bytes.release(payer, parcel.bytes);
    const [next] = parcel.holders.keys();
    parcel.bearer = next;
    if (next !== undefined) bytes.add(next, parcel.bytes);
  }

  return {
    take,
    letGo,
    restore({ payer }, parcel) {
      bytes.add(payer, entryBytes);
      if (parcel === undefined) return;
      if (parcel.bearer === undefined) bytes.add(payer, parcel.bytes);
      hold(payer, parcel);
    },
    settle(payer) {
      bytes.release(payer, entryBytes);
    },
  };
}
