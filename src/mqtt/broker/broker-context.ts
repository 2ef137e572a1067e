import type { Budget } from '../../domain/budgets/budget.ts';
import type { Payer } from '../../domain/budgets/payer.ts';
import type { WaitingBudget } from '../../domain/budgets/waiting-budget.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Log } from '../../lib/log.ts';
import type { BrokerHooks, Client } from '../broker-hooks.ts';
import type { Flusher, PacketWriter } from '../packets/packet-writer.ts';
import type { FrameLimits } from '../packets/partial-packet.ts';
import type { Counters } from './counters.ts';
import type { HandOnShares } from './hand-on-shares.ts';
import type { Journal } from './journal.ts';
import type { MessageQueue } from './message-queue.ts';
import type { Ownership } from './ownership.ts';
import type { PublishCompletion } from './publish-completion.ts';
import type { RetainedDelivery } from './retained-backlog.ts';
import type { SessionRegistry } from './session-registry.ts';
import type { Shares } from './shares.ts';
import type { Slices } from './turns.ts';
import type { Wills } from './wills.ts';
import type { ReadingSlice, WorkShares } from './work-shares.ts';

/** The parts of one broker that its connections use. */
export interface BrokerContext {
  readonly authority: BrokerHooks;
  readonly clock: Clock;
  readonly log: Log;
  readonly counters: Counters;
  readonly journal: Journal;
  readonly queue: MessageQueue;
  readonly completion: PublishCompletion;
  readonly registry: SessionRegistry;
  /** Where other processes have sessions as well. */
  readonly ownership?: Ownership | undefined;
  readonly claims?: Shares | undefined;
  readonly retainedDelivery: RetainedDelivery;
  readonly wills: Wills;
  readonly frameLimits: FrameLimits;
  readonly partialBytes: Budget;
  /** Budget of connections whose CONNECT has begun and is not whole. */
  readonly waiting: WaitingBudget;
  readonly publishBytes: Budget;
  readonly workShares: WorkShares;
  readonly handOnShares: HandOnShares;
  /** Connections with packets that wait because their payer has used up its quota. */
  readonly readers: Slices<ReadingSlice>;
  readonly flusher: Flusher;
  /**
   * Time that the broker was awake, as of the last sweep: exact enough for keep alive, and free of
   * charge for each packet. A clock that is set and a pause of the process do not count as silence.
   */
  readonly awake: { ms: number };
  /** All open connections. */
  readonly members: Set<Member>;
}

/** A connection, as seen by work on all connections. */
export interface Member {
  readonly client: Pick<Client, 'identity' | 'isGone'> | undefined;
  /** The payer of the connection is the address, until it has logged in. */
  readonly input: { readonly payer: Payer };
  /** Checks its clocks, which count time awake: keep alive, login, token. */
  sweep(awakeMs: number): void;
  readonly writer: Pick<PacketWriter, 'waitingBytes' | 'bytesWritten'>;
  end(code: number, text?: string): void;
  /** Closes without a goodbye, which a client that does not read would not get. */
  abort(code: number): void;
}
