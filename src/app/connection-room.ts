import { readFileSync } from 'node:fs';
import { totalmem } from 'node:os';
import type { Budget } from '../domain/budgets/budget.ts';
import { isGuestPayer, type Payer, payerAt, payerOfAccount } from '../domain/budgets/payer.ts';
import type { ConnectionRoom, ConnectionSlot } from '../lib/connection-guard.ts';

/** One connection, and how to end it. */
interface Seat {
  payer: Payer;
  /** Where it is among those of its payer; -1: it has left. */
  at: number;
  readonly end: () => void;
}

/**
 * Shares connections out by address. When all that strangers may have is taken, whoever has most
 * makes room for whoever has far less, so that a new address can always connect.
 */
export function createConnectionRoom(
  budget: Budget,
  isTrustedProxy: (address: string) => boolean,
): ConnectionRoom {
  const seatsOf = new Map<Payer, Seat[]>();

  /** A trusted proxy brings the connections of many: it has the share of an account. */
  function payerFor(address: string): Payer {
    const payer = payerAt(address);
    const plain = payer.slice('address/'.length);
    return isTrustedProxy(plain.endsWith('/64') ? address : plain)
      ? payerOfAccount(`proxy ${plain}`)
      : payer;
  }

  function take(payer: Payer): boolean {
    const refusal = budget.check(payer, 1);
    if (refusal !== undefined && refusal.scope !== 'own') makeRoomFor(payer);
    return budget.take(payer, 1) === undefined;
  }

  function makeRoomFor(payer: Payer): void {
    let crowd: readonly Seat[] = [];
    for (const [other, seats] of seatsOf) {
      if (isGuestPayer(other) && seats.length > crowd.length) crowd = seats;
    }
    const own = seatsOf.get(payer)?.length ?? 0;
    if (crowd.length < 2 * (own + 1)) return;
    // One of its latest: those that have stayed for long are more likely to be of use.
    const seat = crowd.at(-1);
    if (seat === undefined) return;
    leave(seat);
    seat.end();
  }

  function sit(seat: Seat): void {
    const seats = seatsOf.get(seat.payer) ?? [];
    seatsOf.set(seat.payer, seats);
    seat.at = seats.push(seat) - 1;
  }

  function leave(seat: Seat): void {
    if (seat.at < 0) return;
    const seats = seatsOf.get(seat.payer) ?? [];
    const last = seats.pop();
    if (last !== undefined && last !== seat) {
      seats[seat.at] = last;
      last.at = seat.at;
    }
    if (seats.length === 0) seatsOf.delete(seat.payer);
    seat.at = -1;
    budget.release(seat.payer, 1);
  }

  return {
    enter(address, end): ConnectionSlot | undefined {
      const payer = payerFor(address);
      if (!take(payer)) return undefined;
      const seat: Seat = { payer, at: -1, end };
      sit(seat);
      return {
        leave: () => leave(seat),
        move(to) {
          const payerThere = payerFor(to);
          if (seat.at < 0 || payerThere === seat.payer) return true;
          if (!take(payerThere)) return false;
          leave(seat);
          seat.payer = payerThere;
          sit(seat);
          return true;
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
    // Not Linux: its own limits hold, and a connection that cannot be opened is refused by it.
    return undefined;
  }
}
