import type { Clock } from '../../lib/clock.ts';
import { yieldToEventLoop } from '../../lib/event-loop.ts';
import { type Caller, createGroupCommit } from '../../lib/scheduling/group-commit.ts';
import { createSemaphore } from '../../lib/scheduling/semaphore.ts';
import type { Payer } from '../budgets/payer.ts';
import { DomainError, isFailureToStore } from '../errors.ts';
import type { DeviceId, SensorId } from '../ids.ts';
import { limits } from '../limits.ts';
import type { PublishContext } from '../publish-context.ts';
import type { Reporter } from '../reporter.ts';
import { type ColumnBatch, emptyBatch, toDatapoints } from './column-batch.ts';
import type { Consequences } from './consequences.ts';
import type { Datapoint, SensorRef } from './datapoint.ts';
import type {
  AppendOutcome,
  DatapointStore,
  NewEvaluation,
  Note,
  NotesOf,
  Push,
} from './datapoint-store.ts';
import type { Feed, FeedEvent } from './feed.ts';
import { weightOf } from './push-weight.ts';

/** A push on its way to the store, and in whose queue it waits. */
export interface QueuedPush extends Push {
  readonly payer: Payer;
}

/**
 * Stores all pushes that wait in one commit, and publishes them to listeners; every ingest path
 * ends here.
 */
export interface Appender {
  /**
   * Resolves when the push is synced to disk with all that follows from it, and listeners have
   * received what is new.
   * Throws unavailable: nothing was kept, retry.
   */
  append(push: QueuedPush): Promise<AppendOutcome>;
  /** Resolves when nothing waits and nothing is in flight. */
  drain(): Promise<void>;
}

export function createAppender(options: {
  readonly store: DatapointStore;
  readonly feed: Feed;
  readonly clock: Clock;
  readonly reporter: Reporter;
  /** Called before listeners. */
  readonly consequences?: Consequences;
  /** The evaluation that is filed with a push, where several processes serve the same data. */
  readonly newEvaluation?: ((push: SensorRef) => NewEvaluation | undefined) | undefined;
  /** The store failed, or was full. */
  readonly onUnstored?: () => void;
}): Appender {
  const { store, feed, clock, reporter, consequences } = options;

  async function commit(batch: readonly QueuedPush[]): Promise<readonly Appended[]> {
    const startedAt = clock.now();
    try {
      const evaluationIds = new Map<Push, string>();
      const noting = { feed, newEvaluation: options.newEvaluation, evaluationIds };
      const outcomes = await appendApart(store, batch, noting);
      let datapoints = 0;
      let fresh = 0;
      const events: StoredEvent[] = [];
      /** Also what was stored before but maybe not published: a crash came between [contract 8]. */
      const told: FeedEvent[] = [];
      /** The places of the events in the batch. */
      const places: number[] = [];
      batch.forEach((push, index) => {
        const outcome = outcomes[index];
        if (outcome?.kind !== 'stored') return;
        datapoints += push.batch.count;
        fresh += outcome.fresh.count;
        if (outcome.fresh.count === 0) {
          if (push.publishContext?.isRepetition === true) {
            told.push(new StoredEvent(push, push.batch));
          }
          return;
        }
        const event = new StoredEvent(push, outcome.fresh, evaluationIds.get(push));
        places.push(index);
        events.push(event);
        told.push(event);
      });
      const waits = events.length > 0 ? consequences?.(events) : undefined;
      if (told.length > 0) feed.publish(told);
      reporter.commitFinished({ datapoints: fresh, durationMs: clock.now() - startedAt });
      if (datapoints > fresh) reporter.datapointsRepeated(datapoints - fresh);
      // Wait until deferred events were delivered, so that they cannot pile up in memory.
      const seen = feed.held?.areAny() === true ? feed.held.released() : undefined;
      const isHeld = events.some(({ handedOn }) => handedOn !== undefined);
      if (waits === undefined && seen === undefined && !isHeld) return outcomes;
      return withWaits(
        outcomes,
        places,
        events.map((event, at) => both(waits?.[at], handedOn(event, seen))),
      );
    } catch (reason) {
      reporter.commitFailed();
      if (reason instanceof DomainError && isFailureToStore(reason)) options.onUnstored?.();
      throw reason;
    }
  }

  const group = createGroupCommit<QueuedPush, Appended, AppendOutcome>({
    commit,
    settle,
    weigh: weightOf,
    payerOf: (push) => push.payer,
    batchWeightMax: limits.commitBytesMax,
    queueWeightMax: limits.commitQueueBytesMax,
    payerWeightMax: limits.commitQueueBytesMax / 2,
    payerWeightFloor: limits.commitQueueBytesFloor,
    refusal: (full) =>
      full === 'payer'
        ? new DomainError(
            'rate_limited',
            'too many of your datapoints wait to be stored: try again in a moment',
            { retryAfterSeconds: 2 },
          )
        : new DomainError(
            'unavailable',
            'too many datapoints wait to be stored: try again in a moment',
            { retryAfterSeconds: 2 },
          ),
  });

  const longPushes = createSemaphore({ parallelMax: 1 });
  /** The long push that is being stored, and those that wait for it to be. */
  let long: { readonly deviceId: DeviceId; readonly isOver: Promise<void> } | undefined;
  let longCount = 0;

  /** After those of its payer that came before it, and not in their commit: others go on. */
  async function appendLong(push: QueuedPush): Promise<AppendOutcome> {
    const release = group.hold(push);
    longCount += 1;
    try {
      const appended = await longPushes.run(push.payer, async () => {
        await store.readyForLong?.();
        await group.add({ ...push, batch: emptyBatch });
        const storing = commit([push]).finally(() => {
          long = undefined;
        });
        long = { deviceId: push.deviceId, isOver: storing.then(ignore, ignore) };
        const [stored] = await storing;
        return stored as Appended;
      });
      // Consequences, for instance evaluations of rules, keep no other long push waiting.
      return await whole(appended);
    } finally {
      release();
      longCount -= 1;
    }
  }

  /** Outside the queue, though it counts there: a batch with it would wait, and others in it. */
  async function appendBehind(isOver: Promise<void>, push: QueuedPush): Promise<AppendOutcome> {
    const release = group.hold(push);
    await isOver;
    release();
    return append(push);
  }

  function append(push: QueuedPush): Promise<AppendOutcome> {
    if (long !== undefined && long.deviceId === push.deviceId) {
      return appendBehind(long.isOver, push);
    }
    return push.batch.count > limits.datapointsPerTurn ? appendLong(push) : group.add(push);
  }

  return {
    append,
    async drain() {
      do {
        await long?.isOver;
        await group.drain();
        await yieldToEventLoop();
      } while (longCount > 0);
    },
  };
}

const ignore = (): void => undefined;

/** Resolves when listeners have all of it. */
const handedOn = (event: StoredEvent, seen: Promise<void> | undefined): Promise<void> | undefined =>
  seen?.then(() => event.handedOn) ?? event.handedOn;

const both = (
  one: Promise<void> | undefined,
  other: Promise<void> | undefined,
): Promise<void> | undefined =>
  one === undefined || other === undefined
    ? (one ?? other)
    : Promise.all([one, other]).then(ignore);

/**
 * Stores a batch. When the store fails for a reason that it does not know, one push may be the
 * cause: the batch is tried again in halves, so that the others are stored without it.
 */
async function appendApart(
  store: DatapointStore,
  batch: readonly Push[],
  noting: Noting,
  tries = { left: limits.commitTriesMax },
): Promise<readonly AppendOutcome[]> {
  try {
    if (noting.feed.notesOf === undefined) return await store.append(batch);
    const note: NotesOf = (outcomes, areOthers) =>
      notesOf(batch, outcomes, { ...noting, areOthers });
    return await store.append(batch, note);
  } catch (reason) {
    // The store says what is wrong with the machine: that is no fault of a push.
    if (
      reason instanceof DomainError ||
      (batch.length === 1 && tries.left === limits.commitTriesMax)
    )
      throw reason;
    tries.left -= 1;
    if (batch.length === 1 || tries.left <= 0) {
      return batch.map(() => ({ kind: 'failed', reason }));
    }
    const middle = Math.ceil(batch.length / 2);
    const first = await appendApart(store, batch.slice(0, middle), noting, tries);
    return [...first, ...(await appendApart(store, batch.slice(middle), noting, tries))];
  }
}

/** Sources of the messages for other processes, and ids of the evaluations filed with pushes. */
interface Noting {
  readonly feed: Pick<Feed, 'notesOf'>;
  readonly newEvaluation: ((push: SensorRef) => NewEvaluation | undefined) | undefined;
  readonly evaluationIds: Map<Push, string>;
}

/** Makes the messages on each push: on what is new, or on all of a push that is sent again. */
async function notesOf(
  batch: readonly Push[],
  outcomes: readonly AppendOutcome[],
  { feed, newEvaluation, evaluationIds, areOthers }: Noting & { readonly areOthers: boolean },
): Promise<readonly Note[]> {
  const told: Push[] = [];
  const looks: (NewEvaluation | undefined)[] = [];
  batch.forEach((push, index) => {
    const outcome = outcomes[index];
    if (outcome?.kind !== 'stored') return;
    if (outcome.fresh.count > 0) {
      const look = push.publishContext?.isImport === true ? undefined : newEvaluation?.(push);
      if (look !== undefined) evaluationIds.set(push, look.id);
      looks.push(look);
      told.push({ ...push, batch: outcome.fresh });
    } else if (push.publishContext?.isRepetition === true) {
      looks.push(undefined);
      told.push(push);
    }
  });
  const texts = (await feed.notesOf?.(told, areOthers)) ?? [];
  return texts.flatMap((parts, index) => {
    const look = looks[index];
    const notes: Note[] = parts.map((text) => ({ text }));
    const own = notes.pop();
    return own === undefined ? [] : [...notes, look === undefined ? own : { ...own, look }];
  });
}

/** An outcome, and what its push has to wait for; the next commit does not. */
type Appended = AppendOutcome | (AppendOutcome & { readonly waitsFor: Promise<void> });

function withWaits(
  outcomes: readonly AppendOutcome[],
  places: readonly number[],
  waits: readonly (Promise<void> | undefined)[],
): readonly Appended[] {
  const appended: Appended[] = [...outcomes];
  waits.forEach((waitsFor, index) => {
    const place = places[index];
    const outcome = place === undefined ? undefined : outcomes[place];
    if (waitsFor === undefined || outcome?.kind !== 'stored' || place === undefined) return;
    appended[place] = { ...outcome, waitsFor };
  });
  return appended;
}

/** Answers the outcome, once all that the push has to wait for has happened. */
function settle(appended: Appended, caller: Caller<AppendOutcome>): void {
  if (appended.kind === 'failed') caller.reject(appended.reason);
  else if ('waitsFor' in appended) caller.resolve(appended.waitsFor.then(() => appended));
  else caller.resolve(appended);
}

const whole = (appended: Appended): Promise<AppendOutcome> =>
  new Promise((resolve, reject) => settle(appended, { resolve, reject }));

type DatapointsEvent = Extract<FeedEvent, { kind: 'datapoints' }>;

/** An event whose datapoints are columns until a listener asks for them: mostly none does. */
class StoredEvent implements DatapointsEvent {
  readonly kind = 'datapoints';
  readonly deviceId: DeviceId;
  readonly sensorId: SensorId;
  readonly #payer: Payer;
  declare readonly publishContext?: PublishContext;
  declare readonly evaluationId?: string;
  readonly #batch: ColumnBatch;
  #handedOn: Promise<void> | undefined;
  #datapoints: readonly Datapoint[] | undefined;

  constructor(
    { deviceId, sensorId, publishContext, payer }: QueuedPush,
    batch: ColumnBatch,
    evaluationId?: string | undefined,
  ) {
    this.deviceId = deviceId;
    this.sensorId = sensorId;
    this.#payer = payer;
    if (publishContext !== undefined) this.publishContext = publishContext;
    if (evaluationId !== undefined) this.evaluationId = evaluationId;
    this.#batch = batch;
  }

  get datapoints(): readonly Datapoint[] {
    this.#datapoints ??= toDatapoints(this.#batch);
    return this.#datapoints;
  }

  get batch(): ColumnBatch {
    return this.#batch;
  }

  get payer(): Payer {
    return this.#payer;
  }

  /** Resolves when listeners have all of it; undefined: they have. */
  get handedOn(): Promise<void> | undefined {
    return this.#handedOn;
  }

  holdAnswer(work: Promise<void>): void {
    this.#handedOn = both(this.#handedOn, work);
  }
}
