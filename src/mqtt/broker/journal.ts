import type { Budget } from '../../domain/budgets/budget.ts';
import type { Payer } from '../../domain/budgets/payer.ts';
import type { SessionChange, SessionStore } from '../../domain/messaging/session-store.ts';
import type { Log } from '../../lib/log.ts';
import { mqttLimits } from '../limits.ts';

/** Makes changes of sessions durable, many in one step of the store, in the order they happened. */
export interface Journal {
  /** `payer` pays for it until it is on disk. */
  add(change: SessionChange, payer: Payer): void;
  /** Counts one more row of a change added in this step: it is paid for like a change. */
  addRow(payer: Payer): void;
  /** Whether the payer's quota admits what can wait, or be left out, as one more queued message. */
  hasRoomFor(payer: Payer): boolean;
  /** Changes when what was added before has left for the store: an added change is then final. */
  readonly step: number;
  /**
   * Waits for a decision on what to add for a message of this payer: until then nothing that the
   * payer published counts as durable.
   */
  hold(decision: Promise<void>, payer: Payer | undefined): void;
  /**
   * Resolves when all added changes are durable, and decisions for messages of the payer, if one is
   * given: no payer waits for those of others. undefined: all is durable already.
   */
  synced(publisher?: Payer): Promise<void> | undefined;
  /** Resolves when all that was added or is being decided at this moment is durable. */
  settled(): Promise<void>;
  /** Resolves when all is durable, or when the store has failed often enough to give up. */
  finish(): Promise<void>;
}

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

/** A service that stops cannot wait for ever for its disk. */
const finalAttemptsMax = 3;

interface Step {
  readonly changes: SessionChange[];
  readonly payers: Map<Payer, number>;
  readonly done: PromiseWithResolvers<void>;
}

export function createJournal(options: {
  readonly store: SessionStore;
  readonly room: Budget;
  readonly log: Log;
  /** Writes messages to other processes about changes. Absent: there are none. */
  readonly notesOf?: ((changes: readonly SessionChange[]) => readonly string[]) | undefined;
}): Journal {
  const { store, room, log, notesOf } = options;
  let collecting: Step | undefined;
  let inFlight: Step | undefined;
  /** Pending decisions for the messages of each payer. */
  const held = new Map<Payer | undefined, Promise<unknown>>();
  let stepNumber = 0;
  let isFinishing = false;

  function add(change: SessionChange, payer: Payer): void {
    if (collecting === undefined) {
      collecting = { changes: [], payers: new Map(), done: Promise.withResolvers<void>() };
      if (inFlight === undefined) setImmediate(leave);
    }
    collecting.changes.push(change);
    addRow(payer);
  }

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
  async function writeUntilKept(changes: readonly SessionChange[]): Promise<void> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        await (notesOf === undefined
          ? store.apply(changes)
          : store.apply(changes, notesOf(changes)));
        return;
      } catch (error) {
        if (isFinishing && attempt >= finalAttemptsMax) {
          log.error({ error, changes: changes.length }, 'changes of MQTT sessions are lost');
          return;
        }
        log.error({ error, attempt }, 'MQTT sessions could not be stored; trying again');
        await new Promise((resolve) => setTimeout(resolve, mqttLimits.storeRetryMs).unref());
      }
    }
  }

  function hold(decision: Promise<void>, payer: Payer | undefined): void {
    const before = held.get(payer);
    const all = before === undefined ? decision : Promise.all([before, decision]);
    held.set(payer, all);
    void all.finally(() => {
      if (held.get(payer) === all) held.delete(payer);
    });
  }

  function synced(publisher?: Payer): Promise<void> | undefined {
    const decided = publisher === undefined ? undefined : held.get(publisher);
    return decided === undefined ? added() : decided.then(added);
  }

  const added = (): Promise<void> | undefined => (collecting ?? inFlight)?.done.promise;

  return {
    add,
    addRow,
    hold,
    hasRoomFor: (payer) => room.used < unhurriedMax || room.check(payer, 1) === undefined,
    get step() {
      return stepNumber;
    },
    synced,
    async settled() {
      await Promise.all(held.values());
      await added();
    },
    async finish() {
      isFinishing = true;
      while (held.size > 0) await Promise.all(held.values());
      await added();
    },
  };
}
