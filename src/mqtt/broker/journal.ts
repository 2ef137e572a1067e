import type { Budget, Payer } from '../../domain/budgets/budget.ts';
import type { SessionChange, SessionStore } from '../../domain/messaging/session-store.ts';
import type { Log } from '../../lib/log.ts';
import { mqttLimits } from '../limits.ts';

/** Pieces that the store writes at once, by rows: a message for many is a row for each of them. */
function* partsOf(changes: readonly SessionChange[]): Generator<readonly SessionChange[]> {
  let from = 0;
  let rows = 0;
  for (const [at, change] of changes.entries()) {
    const more = change.kind === 'queued' ? change.entries.length : 1;
    if (at > from && rows + more > mqttLimits.storeRowsPerStep) {
      yield changes.slice(from, at);
      [from, rows] = [at, 0];
    }
    rows += more;
  }
  yield changes.slice(from);
}

/** With so few changes waiting no payer has to wait. */
const unhurriedMax = 1_000;

interface Step {
  readonly changes: SessionChange[];
  readonly payers: Map<Payer, number>;
  readonly done: PromiseWithResolvers<void>;
}

export type Journal = ReturnType<typeof createJournal>;

/** Makes changes of sessions durable, many in one step of the store, in the order they happened. */
export function createJournal(options: {
  readonly store: Pick<SessionStore, 'apply'>;
  readonly room: Budget;
  readonly log: Log;
  /** Writes messages to other processes about changes. Absent: there are none. */
  readonly notesOf?: ((changes: readonly SessionChange[]) => readonly string[]) | undefined;
}) {
  const { store, room, log, notesOf } = options;
  let collecting: Step | undefined;
  let inFlight: Step | undefined;
  /** Pending decisions for the messages of each payer. */
  const held = new Map<Payer | undefined, Promise<unknown>>();
  let stepNumber = 0;
  let isFinishing = false;

  /** `payer` pays for it until it is on disk. */
  function add(change: SessionChange, payer: Payer): void {
    if (collecting === undefined) {
      collecting = { changes: [], payers: new Map(), done: Promise.withResolvers<void>() };
      if (inFlight === undefined) setImmediate(leave);
    }
    collecting.changes.push(change);
    addRow(payer);
  }

  /** Counts one more row of a change added in this step: it is paid for like a change. */
  function addRow(payer: Payer): void {
    const payers = collecting?.payers;
    payers?.set(payer, (payers.get(payer) ?? 0) + 1);
    if (payers !== undefined) room.add(payer, 1);
  }

  function leave(): void {
    if (inFlight !== undefined || collecting === undefined) return;
    inFlight = collecting;
    collecting = undefined;
    stepNumber += 1;
    void write(inFlight);
  }

  async function write(step: Step): Promise<void> {
    const { changes, payers, done } = step;
    for (const part of partsOf(changes)) await writeUntilKept(part);
    for (const [payer, count] of payers) room.release(payer, count);
    inFlight = undefined;
    done.resolve();
    leave();
  }

  /** Tries until it succeeds: promised changes must not be lost; no client is answered before. */
  function writeUntilKept(changes: readonly SessionChange[]): Promise<void> {
    return untilDone(
      () => (notesOf === undefined ? store.apply(changes) : store.apply(changes, notesOf(changes))),
      (error, attempt) => {
        const isLost = isFinishing && attempt >= finalAttemptsMax;
        if (isLost)
          log.error({ error, changes: changes.length }, 'changes of MQTT sessions are lost');
        else log.error({ error, attempt }, 'MQTT sessions could not be stored; trying again');
        return isLost;
      },
    );
  }

  /**
   * Waits for a decision on what to add for a message of this payer: until then nothing that the
   * payer published counts as durable.
   */
  function hold(decision: Promise<void>, payer: Payer | undefined): void {
    const before = held.get(payer);
    const all = before === undefined ? decision : Promise.all([before, decision]);
    held.set(payer, all);
    void all.finally(() => {
      if (held.get(payer) === all) held.delete(payer);
    });
  }

  /**
   * Resolves when all added changes are durable, and decisions for messages of the payer, if one is
   * given: no payer waits for those of others. undefined: all is durable already.
   */
  function synced(publisher?: Payer): Promise<void> | undefined {
    const decided = publisher === undefined ? undefined : held.get(publisher);
    return decided === undefined ? added() : decided.then(added);
  }

  const added = (): Promise<void> | undefined => (collecting ?? inFlight)?.done.promise;

  return {
    ...{ add, addRow, hold, synced },
    /** Pending decisions for messages of the payer. */
    decided: (payer: Payer | undefined): Promise<unknown> | undefined => held.get(payer),
    /** Whether the payer's quota admits what can wait, or be left out, as a queued message. */
    hasRoomFor: (payer: Payer): boolean =>
      room.used < unhurriedMax || room.check(payer, 1) === undefined,
    /** Changes when what was added before has left for the store: an added change is then final. */
    get step() {
      return stepNumber;
    },
    /** Resolves when all that was added or is being decided at this moment is durable. */
    async settled(): Promise<void> {
      await Promise.all(held.values());
      // A decision for a group may leave one for its member.
      await Promise.all(held.values());
      await added();
    },
    /** Resolves when all is durable, or when the store has failed often enough to give up. */
    async finish(): Promise<void> {
      isFinishing = true;
      while (held.size > 0) await Promise.all(held.values());
      await added();
    },
  };
}

/** Waits before something is asked of the store again. */
export const retryPause = (): Promise<void> =>
  new Promise((resolve) => void setTimeout(resolve, mqttLimits.storeRetryMs).unref());

/** A service that stops cannot wait for ever for its store. */
export const finalAttemptsMax = 3;

/**
 * Does the work again until it succeeds, with a pause between attempts. `failed` is called with
 * each error; it answers whether to give up, and then the answer is undefined.
 */
export async function untilDone<Answer>(
  work: () => Promise<Answer>,
  failed: (error: unknown, attempt: number) => boolean,
): Promise<Answer | undefined> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      if (failed(error, attempt)) return undefined;
      await retryPause();
    }
  }
}
