import type { Payer } from '../budgets/budget.ts';
import type { ChangeFeed } from '../changes.ts';
import type { ActuatorChange } from '../devices/actuators.ts';
import type { MessageOrigin } from '../messaging/message.ts';
import type { PublishContext } from '../publish-context.ts';
import type { ColumnBatch } from './column-batch.ts';
import type { Datapoint, SensorRef } from './datapoint.ts';
import type { Commit, Push } from './datapoint-store.ts';

/** Datapoints of one sensor that became durable together, in the order given. */
export interface StoredPush extends SensorRef {
  /** Made when they are first asked for: read nothing that has no listener. */
  readonly datapoints: readonly Datapoint[];
  /** The same as columns, which are there anyway. Absent: another process stored it. */
  readonly batch?: ColumnBatch;
  /** For long work of a listener: the push is answered when it is over, with its failure if any. */
  holdAnswer?(work: Promise<void>): void;
  readonly publishContext?: PublishContext;
  /** Payer of the push. Absent: another process stored it. */
  readonly payer?: Payer;
  /** The evaluation of rules that was filed with it. */
  readonly evaluationId?: string;
  /** The push is no older than anything that its sensor had. Absent: not known. */
  readonly isAhead?: boolean;
  /** A part of a long push of another process: the others come next, the newest last. */
  readonly isPart?: boolean;
  /** How many datapoints the push had of which these are the last; absent: these. */
  readonly wholeCount?: number;
}

/** Something that became durable a moment ago: datapoints of one sensor, or an actuator's value. */
export type FeedEvent =
  | ({ readonly kind: 'datapoints' } & StoredPush)
  | ({ readonly kind: 'actuator' } & ActuatorChange & {
        /** Names it where other processes receive it, and its publish context does not. */
        origin?: MessageOrigin;
      });

/** Called with everything that is published, at once: it must not do long work in one go. */
export type FeedListener = (events: readonly FeedEvent[]) => void;

/** The live stream, to listeners, of what was stored and of changes; nothing is kept. */
export interface Feed extends ChangeFeed {
  /** Hands the events to every listener, in order, at once unless deferred; never throws. */
  publish(events: readonly FeedEvent[]): void;
  /**
   * Resolves when events that were published here, without a message in a commit, will reach other
   * processes. Throws DomainError unavailable when that is not known. Absent: there are none.
   */
  told?(): Promise<void>;
  /** Absent: none ever is. */
  readonly held?: {
    areAny(): boolean;
    /** Resolves when those that are deferred now were handed to the listeners. */
    released(): Promise<void>;
  };
  /**
   * Makes the messages on each push for other processes, for the commit that stores it: its parts
   * where others want it, and last its own message. Absent: there never are others.
   */
  notesOf?(
    pushes: readonly Push[],
    isWanted: Commit['isWanted'],
  ): Promise<readonly (readonly string[])[]>;
  /** The push that such a message is on; undefined: on none. Absent: there are no others. */
  pushOf?(note: string): StoredPush | undefined;
  /** Calls the listener from now on; the answer ends that. */
  subscribe(listener: FeedListener): () => void;
}

/**
 * Receives what became durable, push by push and in order, with the datapoints that are new.
 * Answers what each push has to wait for before it is answered; undefined: nothing follows.
 */
export type Consequences = (
  pushes: readonly StoredPush[],
) => readonly (Promise<void> | undefined)[] | undefined;
