import { readFileSync } from 'node:fs';
import { totalmem } from 'node:os';
import {
  type Budget,
  isGuestPayer,
  isPayer,
  type Payer,
  payerAt,
  proxyPayers,
} from '../domain/budgets/budget.ts';
import type {
  ConnectionQuotas,
  ConnectionSlot,
  SeatedConnection,
} from '../lib/connection-guard.ts';

/** An open connection. */
interface CountedSlot {
  payer: Payer;
  readonly connection: SeatedConnection;
  /** Bytes that its peer had sent at the last check. */
  heard: number;
  hasLeft: boolean;
}

/** Slots of guests, or of one account: those that were silent for longest come first. */
type Seats = Set<CountedSlot>;
/** How many are checked to find a silent one: a flood of new connections pays for each. */
const looksMax = 100;
/** The part of the guests' quota that no account takes, so that newcomers can log in. */
const partForNew = 1 / 4;

/**
 * Limits connections by address, and by account once they have logged in. When the quota of guests
 * is used up, the connection that is silent for longest is ended: a new client can always connect.
 */
export function createConnectionQuotas(
  budget: Budget,
  isTrustedProxy: (address: string) => boolean,
): ConnectionQuotas {
  const guests: Seats = new Set();
  const accounts = new Map<Payer, Seats>();

  /** A trusted proxy brings the connections of many: it has the quota of an account. */
  function payerFor(address: string): Payer {
    const payer = payerAt(address);
    const plain = payer.slice('address/'.length);
    return isTrustedProxy(plain.endsWith('/64') ? address : plain)
      ? `${proxyPayers}${plain}`
      : payer;
  }

  function take(payer: Payer): boolean {
    const refusal = budget.check(payer, 1);
    if (refusal !== undefined && refusal.scope !== 'own') endSilentOf(guests);
    return budget.take(payer, 1) === undefined;
  }

  /** Ends the connection that is silent for longest, as far as a few checks find it. */
  function endSilentOf(seats: Seats): void {
    let looks = 0;
    for (const seat of seats) {
      const heard = seat.connection.heard();
      looks += 1;
      if (heard !== seat.heard && looks <= Math.min(looksMax, seats.size)) {
        seat.heard = heard;
        seats.delete(seat);
        seats.add(seat);
        continue;
      }
      leave(seat);
      seat.connection.end();
      return;
    }
  }

  /** Whether one more connection of guests may become one of the account. */
  function mayTakeOver(account: Payer): boolean {
    const own = budget.usedBy(account);
    const { total, perAccount, guests: ofGuests } = budget.rule;
    if (own >= perAccount) return false;
    if (budget.used - budget.usedByGuests < total - ofGuests * partForNew) return true;
    let crowd: Seats = new Set();
    for (const seats of accounts.values()) if (seats.size > crowd.size) crowd = seats;
    if (crowd.size < 2 * (own + 1)) return false;
    endSilentOf(crowd);
    return true;
  }

  function seatsOf(payer: Payer): Seats {
    if (isGuestPayer(payer)) return guests;
    const seats = accounts.get(payer) ?? new Set();
    accounts.set(payer, seats);
    return seats;
  }

  function sit(seat: CountedSlot, payer: Payer): void {
    seat.payer = payer;
    seatsOf(payer).add(seat);
  }

  function stand(seat: CountedSlot): void {
    const seats = seatsOf(seat.payer);
    seats.delete(seat);
    if (seats !== guests && seats.size === 0) accounts.delete(seat.payer);
    budget.release(seat.payer, 1);
  }

  function leave(seat: CountedSlot): void {
    if (seat.hasLeft) return;
    seat.hasLeft = true;
    stand(seat);
  }

  return {
    enter(address, connection): ConnectionSlot | undefined {
      const payer = payerFor(address);
      if (!take(payer)) return undefined;
      const seat: CountedSlot = { payer, connection, heard: 0, hasLeft: false };
      sit(seat, payer);
      return {
        get payer() {
          return seat.payer;
        },
        leave: () => leave(seat),
        move(to) {
          const payerThere = payerFor(to);
          if (seat.hasLeft || payerThere === seat.payer) return true;
          if (!take(payerThere)) return false;
          stand(seat);
          sit(seat, payerThere);
          return true;
        },
        logIn(account) {
          if (seat.payer === account || seat.hasLeft || !isPayer(account)) return;
          // A proxy brings other clients next.
          if (isGuestPayer(account) || seat.payer.startsWith(proxyPayers)) return;
          if (!mayTakeOver(account)) return;
          stand(seat);
          budget.add(account, 1);
          sit(seat, account);
        },
      };
    },
  };
}

/** Files, and what else the process opens beside connections. */
const filesBeside = 512;
/** Of an idle MQTT connection with a session; of the memory there is, half is for connections. */
const connectionBytes = 8_192;

/** How many connections the machine lets this process have, by its memory and by its files. */
export function connectionsOfMachine(): number {
  // 0 or more than there is where no control group sets an end.
  const constrained = process.constrainedMemory() || Number.POSITIVE_INFINITY;
  const memory = Math.min(totalmem(), constrained);
  return Math.min(connectionsOfMemory(memory), connectionsOfFiles() ?? Number.POSITIVE_INFINITY);
}

/** How many connections a machine with this memory, in bytes, serves. */
export const connectionsOfMemory = (memory: number): number =>
  Math.max(filesBeside, Math.floor(memory / 2 / connectionBytes));

function connectionsOfFiles(): number | undefined {
  try {
    const [, files] =
      /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? [];
    return files === undefined ? undefined : Math.max(filesBeside, Number(files) - filesBeside);
  } catch {
    // Not Linux: its own limits apply, and a connection that cannot be opened is refused by it.
    return undefined;
  }
}
