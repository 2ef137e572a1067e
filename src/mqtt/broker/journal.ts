import { limits } from '../../domain/limits.ts';
import type { SessionChange, SessionStore } from '../../domain/messaging/session-store.ts';
import type { Log } from '../../lib/log.ts';

/** Makes changes of sessions durable, many in one step of the store, in the order they happened. */
export interface Journal {
  add(change: SessionChange): void;
  /** Whether there is room for what may be left out, as one more queued message. */
  readonly hasRoom: boolean;
  /** Changes when what was added before has left for the store: an added change is then final. */
  readonly step: number;
  /** Somebody is still finding out what to add: until then nothing counts as durable. */
  hold(decision: Promise<void>): void;
  /** Resolves when all that was added or held is durable; undefined: it is already. */
  synced(): Promise<void> | undefined;
  /** Resolves when all is durable, or when the store has failed often enough to give up. */
  finish(): Promise<void>;
}

/** A service that stops cannot wait for ever for its disk. */
const finalAttemptsMax = 3;

interface Step {
  readonly changes: SessionChange[];
  readonly done: PromiseWithResolvers<void>;
}

export function createJournal(options: {
  readonly store: SessionStore;
  readonly log: Log;
}): Journal {
  const { store, log } = options;
  let collecting: Step | undefined;
  let inFlight: Step | undefined;
  let waiting = 0;
  let held: Promise<unknown> | undefined;
  let stepNumber = 0;
  let isFinishing = false;

  function add(change: SessionChange): void {
    waiting += 1;
    if (collecting === undefined) {
      collecting = { changes: [change], done: Promise.withResolvers<void>() };
      if (inFlight === undefined) setImmediate(leave);
      return;
    }
    collecting.changes.push(change);
  }

  function leave(): void {
    if (inFlight !== undefined || collecting === undefined) return;
    inFlight = collecting;
    collecting = undefined;
    stepNumber += 1;
    void write(inFlight);
  }

  async function write(step: Step): Promise<void> {
    const { changes, done } = step;
    for (let at = 0; at < changes.length; at += limits.mqttStoreChangesPerStep) {
      await writeUntilKept(changes.slice(at, at + limits.mqttStoreChangesPerStep));
    }
    waiting -= changes.length;
    inFlight = undefined;
    done.resolve();
    leave();
  }

  /** What sessions were promised must not be lost: while the store fails, nobody is answered. */
  async function writeUntilKept(changes: readonly SessionChange[]): Promise<void> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        await store.apply(changes);
        return;
      } catch (error) {
        if (isFinishing && attempt >= finalAttemptsMax) {
          log.error({ error, changes: changes.length }, 'changes of MQTT sessions are lost');
          return;
        }
        log.error({ error, attempt }, 'MQTT sessions could not be stored; trying again');
        await new Promise((resolve) => setTimeout(resolve, limits.mqttStoreRetryMs).unref());
      }
    }
  }

  function hold(decision: Promise<void>): void {
    const all = held === undefined ? decision : Promise.all([held, decision]);
    held = all;
    void all.finally(() => {
      if (held === all) held = undefined;
    });
  }

  const added = (): Promise<void> | undefined => (collecting ?? inFlight)?.done.promise;

  return {
    add,
    hold,
    get hasRoom() {
      return waiting < limits.mqttStoreChangesMax;
    },
    get step() {
      return stepNumber;
    },
    synced: () => (held === undefined ? added() : held.then(added)),
    async finish() {
      isFinishing = true;
      await held;
      await added();
    },
  };
}
