import type { Clock } from '../../lib/clock.ts';
import { yieldToEventLoop } from '../../lib/event-loop.ts';
import { type Caller, createGroupCommit } from '../../lib/scheduling/group-commit.ts';
import { createSemaphore } from '../../lib/scheduling/payer-queues.ts';
import type { Payer } from '../budgets/budget.ts';
import { DomainError, isFailureToStore } from '../errors.ts';
import type { DeviceId, SensorId } from '../ids.ts';
import { limits } from '../limits.ts';
import type { PublishContext } from '../publish-context.ts';
import type { Reporter } from '../reporter.ts';
import { bytesPerWeight, type ColumnBatch, emptyBatch, toDatapoints } from './column-batch.ts';
import type { Datapoint } from './datapoint.ts';
import type {
  AppendOutcome,
  Commit,
  DatapointStore,
  NewEvaluation,
  Note,
  NotesOf,
  Push,
} from './datapoint-store.ts';
import type { Consequences, Feed, FeedEvent } from './feed.ts';

/** A push on its way to the store, and in whose queue it waits. */
export interface QueuedPush extends Push {
  readonly payer: Payer;
}

/** Stores waiting pushes in one commit and publishes them: where every ingest path ends. */
export type Appender = ReturnType<typeof createAppender>;

/** A push that brings something new, as the commit that stores it finds it. */
export interface NewPush {
  readonly push: Push;
  readonly outcome: Pick<Extract<AppendOutcome, { kind: 'stored' }>, 'isAhead' | 'isLater'>;
}

interface AppenderOptions {
  readonly store: DatapointStore;
  readonly feed: Feed;
  readonly clock: Clock;
  readonly reporter: Reporter;
  /** Called before listeners. */
  readonly consequences?: Consequences;
  /** The evaluations that are filed with pushes, where several processes serve the same data. */
  readonly evaluationsOf?:
    | ((
        pushes: readonly NewPush[],
        commit: Commit,
      ) => Promise<readonly (NewEvaluation | undefined)[]>)
    | undefined;
  /** The store failed, or was full. */
  readonly onUnstored?: () => void;
}

export function createAppender(options: AppenderOptions) {
  const { store, feed, clock, reporter, consequences } = options;

  async function commit(batch: readonly QueuedPush[]): Promise<readonly Appended[]> {
    const startedAt = clock.now();
    const all = batch.map(newlyQueued);
    try {
      await appendApart(options, all);
      let [datapoints, fresh] = [0, 0];
      const events: StoredEvent[] = [];
      /** Also what was stored before but maybe not published: a crash came between [contract 8]. */
      const published: StoredEvent[] = [];
      for (const one of all) {
        const { push, outcome } = one;
        if (outcome.kind !== 'stored') continue;
        datapoints += push.batch.count;
        fresh += outcome.fresh.count;
        if (outcome.fresh.count > 0) {
          one.event = new StoredEvent(push, outcome.fresh, one.look?.id, outcome.isAhead);
          events.push(one.event);
          published.push(one.event);
        } else if (push.publishContext?.isRepetition === true && !outcome.isHandedOn) {
          published.push(new StoredEvent(push, push.batch));
        }
      }
      if (events.length > 0) {
        const waits = consequences?.(events) ?? [];
        for (const [at, wait] of waits.entries()) if (wait) events[at]?.holdAnswer(wait);
      }
      if (published.length > 0) feed.publish(published);
      reporter.commitFinished({ datapoints: fresh, durationMs: clock.now() - startedAt });
      if (datapoints > fresh) reporter.datapointsRepeated(datapoints - fresh);
      // Wait until deferred events were delivered, so that they cannot pile up in memory.
      if (feed.held?.areAny() === true) {
        const released = feed.held.released();
        for (const one of all) {
          const { event } = one;
          if (event === undefined) continue;
          const heard = released.then(() => event.handedOn);
          one.waitsFor = Promise.all([event.handedOn, heard]);
        }
      }
      return all;
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
    batchItemsMax: limits.commitPushesMax,
    queueWeightMax: limits.commitQueueBytesMax,
    payerWeightMax: limits.commitQueueBytesMax / 2,
    payerWeightFloor: limits.commitQueueBytesFloor,
    gatherPart: store.gatherPart,
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
    /**
     * Resolves when the push is synced to disk with all that follows from it, and listeners have
     * received what is new. Throws unavailable: nothing was kept, retry.
     */
    append,
    /** Resolves when nothing waits and nothing is in flight. */
    async drain(): Promise<void> {
      do {
        await long?.isOver;
        await group.drain();
        await yieldToEventLoop();
      } while (longCount > 0);
    },
  };
}

const ignore = (): void => undefined;

/** A push in a commit, with what came of it. */
interface Appended {
  readonly push: QueuedPush;
  outcome: AppendOutcome;
  /** The evaluation that was filed with it. */
  look: NewEvaluation | undefined;
  /** Undefined: it brought nothing new. */
  event: StoredEvent | undefined;
  /** Beside what the event waits for. */
  waitsFor: Promise<unknown> | undefined;
}

const newlyQueued = (push: QueuedPush): Appended => ({
  push,
  outcome: missing,
  look: undefined,
  event: undefined,
  waitsFor: undefined,
});
const missing: AppendOutcome = { kind: 'missing' };

/** Answers the outcome, once all that the push has to wait for has happened. */
function settle(appended: Appended, caller: Caller<AppendOutcome>): void {
  const { outcome, event, waitsFor = event?.handedOn } = appended;
  if (outcome.kind === 'failed') caller.reject(outcome.reason);
  else caller.resolve(waitsFor === undefined ? outcome : outcomeAfter(waitsFor, outcome));
}

/** Apart from `settle`, which makes no function for each of the many pushes. */
const outcomeAfter = (waitsFor: Promise<unknown>, outcome: AppendOutcome): Promise<AppendOutcome> =>
  waitsFor.then(() => outcome);

const whole = (appended: Appended): Promise<AppendOutcome> =>
  new Promise((resolve, reject) => settle(appended, { resolve, reject }));

/**
 * Stores a batch. When the store fails for a reason that it does not know, one push may be the
 * cause: the batch is tried again in halves, so that the others are stored without it.
 */
async function appendApart(
  options: AppenderOptions,
  batch: readonly Appended[],
  tries = { left: limits.commitTriesMax },
): Promise<void> {
  const note: NotesOf | undefined =
    options.feed.notesOf && ((outcomes, commit) => notesOf(options, batch, { outcomes, commit }));
  try {
    const outcomes = await options.store.append(
      batch.map(({ push }) => push),
      note,
    );
    batch.forEach((one, at) => {
      one.outcome = outcomes[at] ?? missing;
    });
  } catch (reason) {
    // The store says what is wrong with the machine: that is no fault of a push.
    const isWhole = tries.left === limits.commitTriesMax;
    if (reason instanceof DomainError || (batch.length === 1 && isWhole)) throw reason;
    tries.left -= 1;
    if (batch.length === 1 || tries.left <= 0) {
      for (const one of batch) one.outcome = { kind: 'failed', reason };
      return;
    }
    const middle = Math.ceil(batch.length / 2);
    await appendApart(options, batch.slice(0, middle), tries);
    await appendApart(options, batch.slice(middle), tries);
  }
}

/** Makes the messages on each push: on what is new, or on all of a push that is sent again. */
async function notesOf(
  { feed, evaluationsOf }: AppenderOptions,
  batch: readonly Appended[],
  stored: { readonly outcomes: readonly AppendOutcome[]; readonly commit: Commit },
): Promise<readonly Note[]> {
  const noted: (Partial<NewPush> & { readonly push: Push; readonly appended: Appended })[] = [];
  for (const [at, one] of batch.entries()) {
    const { push } = one;
    const outcome = stored.outcomes[at];
    if (outcome?.kind !== 'stored') continue;
    one.look = undefined;
    if (outcome.fresh.count > 0) {
      noted.push({ push: { ...push, batch: outcome.fresh }, appended: one, outcome });
    } else if (push.publishContext?.isRepetition === true && !outcome.isHandedOn) {
      noted.push({ push, appended: one });
    }
  }
  const evaluated = noted.flatMap(({ push, appended, outcome }) =>
    outcome === undefined || push.publishContext?.isImport ? [] : { push, appended, outcome },
  );
  const looks = (await evaluationsOf?.(evaluated, stored.commit)) ?? [];
  for (const [at, { appended }] of evaluated.entries()) appended.look = looks[at];
  const { isWanted } = stored.commit;
  const told = noted.filter(({ push, appended }) => appended.look || isWanted(push.deviceId));
  const pushes = told.map(({ push }) => push);
  const texts = (await feed.notesOf?.(pushes, isWanted)) ?? [];
  return texts.flatMap((parts, at) => {
    const { appended, push } = told[at] as (typeof told)[number];
    const { look } = appended;
    const isOwn = !isWanted(push.deviceId);
    const notes: Note[] = parts.map((text) => ({ text, isOwn }));
    const own = notes.pop();
    return own === undefined ? [] : [...notes, look === undefined ? own : { ...own, look }];
  });
}

/** An event whose datapoints are columns until a listener asks for them: mostly none does. */
class StoredEvent implements Extract<FeedEvent, { kind: 'datapoints' }> {
  readonly kind = 'datapoints';
  readonly deviceId: DeviceId;
  readonly sensorId: SensorId;
  readonly #payer: Payer;
  readonly #batch: ColumnBatch;
  declare readonly publishContext?: PublishContext;
  declare readonly evaluationId?: string;
  declare readonly isAhead?: boolean;
  #handedOn: Promise<void> | undefined;
  #datapoints: readonly Datapoint[] | undefined;

  constructor(
    { deviceId, sensorId, publishContext, payer }: QueuedPush,
    batch: ColumnBatch,
    evaluationId?: string | undefined,
    isAhead?: boolean,
  ) {
    this.deviceId = deviceId;
    this.sensorId = sensorId;
    this.#payer = payer;
    this.#batch = batch;
    if (publishContext !== undefined) this.publishContext = publishContext;
    if (evaluationId !== undefined) this.evaluationId = evaluationId;
    if (isAhead !== undefined) this.isAhead = isAhead;
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

  /** Resolves when all that follows has happened and listeners have all; undefined: they have. */
  get handedOn(): Promise<void> | undefined {
    return this.#handedOn;
  }

  holdAnswer(work: Promise<void>): void {
    this.#handedOn =
      this.#handedOn === undefined ? work : Promise.all([this.#handedOn, work]).then(ignore);
  }
}

/** Memory of a datapoint beside its text, in bytes: four columns of one row. */
const datapointBytes = 64;

/** About how many bytes of memory a push takes while it waits: a queue is bounded by them. */
export function weightOf({ batch: { count, texts, weight } }: Push): number {
  let bytes = count * datapointBytes;
  if (texts === undefined) return bytes;
  // Short texts take more than their characters.
  if (weight !== undefined) return bytes + bytesPerWeight * weight;
  for (const text of texts) if (text !== undefined) bytes += text.length;
  return bytes;
}
