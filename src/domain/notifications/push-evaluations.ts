import { createFairSlices, type Pace } from '../../lib/scheduling/fair-slices.ts';
import type { Payer } from '../budgets/budget.ts';
import { type ColumnBatch, datapointAt } from '../datapoints/column-batch.ts';
import { type Datapoint, isHistory, newestWith } from '../datapoints/datapoint.ts';
import type { StoredPush } from '../datapoints/feed.ts';
import { type Device, sensorOf } from '../devices/device.ts';
import { type DeviceId, type SensorId, sameUsername, type Username } from '../ids.ts';
import { limits } from '../limits.ts';
import type { EvaluationProgress } from './delivery.ts';
import type { Fire } from './fire.ts';
import { mayFire } from './firing.ts';
import type { Rule } from './rule.ts';
import type { RuleBook } from './rule-book.ts';
import {
  countHad,
  type EvaluationParts,
  evaluateDatapoint,
  type FiringEvaluation,
  inOrderOfTime,
  planFiring,
  proposeFiring,
} from './rule-evaluation.ts';
import type { PushTimes, SensorValues } from './sensor-values.ts';

export interface PushEvaluationParts extends EvaluationParts {
  readonly book: Pick<RuleBook, 'index'>;
  readonly fire: Fire;
  /** The device, if that can be said at once. */
  readonly peekDevice: (id: DeviceId) => Device | undefined;
}

interface EvaluationOptions {
  /** Whether the pushes may have been evaluated before the service was started anew. */
  readonly isAgain: boolean;
  /** Whether pushes that came with them have kept the event loop for long enough. */
  readonly isLate: () => boolean;
  /** How many datapoints of a push a rule has processed; absent: none, or `isAgain` says. */
  readonly had?: (rule: Rule, push: StoredPush) => number;
  readonly known: SensorValues;
  readonly times: PushTimes;
  /** Whether evaluations whose firing cannot be stored are run again. */
  readonly isRepeatedByCaller?: boolean;
  /** Of the evaluations in the queue that these are. */
  readonly progress?: EvaluationProgress;
}

/** Makes evaluations of pushes: long ones run in slices, by the owners of the devices. */
export function createPushEvaluations(parts: PushEvaluationParts) {
  const { book, devices, states, silences } = parts;
  const slices = createFairSlices({ turnMs: limits.turnMs });
  const countHadBefore = (rule: Rule, push: StoredPush) => countHad(states, rule, push);

  /** Whether some rule may ask for a value beside the one that was pushed, or did before. */
  function needsValues(
    known: SensorValues,
    rules: readonly Rule[],
    { id }: Device,
    sensorId: SensorId,
  ): boolean {
    return known.has(id) || rules.some(({ named }) => named.some((name) => name !== sensorId));
  }

  /** An evaluation of some pushes, to be run once. */
  return (pushes: readonly StoredPush[], options: EvaluationOptions) => {
    const { isAgain, isLate, known, times } = options;
    const hadOf = options.had ?? (isAgain ? countHadBefore : undefined);
    const firings = new Map<StoredPush, Promise<void>>();
    const ofOthers: Promise<unknown>[] = [];
    let isOver = false;

    async function run(): Promise<void> {
      for (const push of pushes) {
        try {
          const { deviceId, sensorId } = push;
          const device = parts.peekDevice(deviceId) ?? (await devices.find(deviceId));
          const sensor = device && sensorOf(device, sensorId);
          if (device === undefined || sensor === undefined) continue;
          const pace = slices.paceOf(device.owner.toLowerCase());
          if (isLate()) await pace.rest();
          const long = longBatchOf(push);
          const order = long === undefined ? shortOrder(push) : await longOrder(long, pace);
          const rules = book.index.rulesOn(deviceId, sensorId, ownerFor(device));
          const values = needsValues(known, rules, device, sensorId)
            ? (known.peek(device) ?? (await known.fetch(device)))
            : undefined;
          const had = hadOf === undefined ? [] : rules.map((rule) => hadOf(rule, push));
          const evaluation = { push, device, sensor, rules, values, had };
          const fired = createFired(parts, device, options);
          let newest = times.peek(push) ?? (await times.before(push));
          for (let place = 0; place < order.count; place += 1) {
            const datapoint = order.at(place);
            const isOld = isHistory(datapoint, newest);
            newest = newestWith(newest, datapoint);
            times.keep(push, newest);
            // Where there are no rules, what is known of the sensor is its last one.
            if (rules.length === 0 && place < order.count - 1) {
              if (pace.isOver()) await pace.rest();
              continue;
            }
            if (!isAgain) silences().seen(deviceId, sensorId, datapoint.receivedAt);
            for (const firing of evaluateDatapoint(parts, evaluation, datapoint, {
              place,
              isHistory: isOld,
            })) {
              const planned = fired.add(firing);
              if (planned !== undefined) await planned;
              if (pace.isOver()) await pace.rest();
            }
            if (pace.isOver()) await pace.rest();
          }
          if (values !== undefined) known.keep(device, values);
          const others = fired.ofOthers();
          if (others !== undefined) ofOthers.push(others);
          const stored = fired.stored();
          if (stored !== undefined) firings.set(push, handled(stored));
        } catch (error) {
          // The sender of the push gets the error; the other pushes are evaluated all the same.
          firings.set(push, handled(Promise.reject(error)));
        }
      }
      isOver = true;
    }

    return {
      /** Waits only where something is fetched, a rule fires, or a slice of the event loop ends. */
      run,
      /** Whether all was evaluated and nothing fired: mostly so when the work has just begun. */
      isOverWithNothing: () => isOver && firings.size === 0,
      /** After the run: when the push may be answered. Throws as `Fire` does. */
      firingsOf: (push: StoredPush) => firings.get(push),
      /** Resolves when firings for others than the devices' owners are stored, or given up. */
      ofOthers: () => Promise.all(ofOthers),
    };
  };
}

/** Firings that follow from one push to the device. */
function createFired(
  parts: PushEvaluationParts,
  device: Device,
  { isRepeatedByCaller = false, progress }: EvaluationOptions,
) {
  const { fire } = parts;
  let own: Commits | undefined;
  let ofOthers: Commits | undefined;
  /** Had too many that wait: what else they would fire for this push is given up. */
  let refused: Set<Payer> | undefined;

  function fireForStranger(evaluation: FiringEvaluation): void {
    const { rule } = evaluation;
    if (refused?.has(rule.payer) === true) {
      evaluation.note(rule.notification.id, 'not_stored');
      return;
    }
    const planned = proposeFiring(parts, evaluation, progress && { evaluation: progress });
    const stored = fire.forStranger(planned, () => mayFire(parts, rule, device));
    ofOthers ??= createCommits();
    if (stored !== undefined) {
      ofOthers.add(stored);
      return;
    }
    refused ??= new Set();
    refused.add(rule.payer);
  }

  async function fireOwn(evaluation: FiringEvaluation): Promise<void> {
    if (own?.isFailed() === true) {
      evaluation.note(evaluation.rule.notification.id, 'not_stored');
      return;
    }
    const planned = await planFiring(parts, evaluation);
    if (planned === undefined) return;
    own ??= createCommits();
    own.add(fire(planned, { isRepeatedByCaller }));
  }

  return {
    /** Waits for nothing where the rule is another account's. */
    add(evaluation: FiringEvaluation): Promise<void> | undefined {
      const { owner } = evaluation.rule.notification;
      if (sameUsername(owner, device.owner)) return fireOwn(evaluation);
      fireForStranger(evaluation);
      return undefined;
    },
    /** However long they take. */
    ofOthers: () => ofOthers?.over(),
    /**
     * Resolves when what the push has to wait for is stored: the firings of the device's owner, and
     * for a while those of others, however many there are. Throws for the owner's alone.
     */
    stored(): Promise<void> | undefined {
      if (own === undefined && ofOthers === undefined) return undefined;
      const others = ofOthers && atMost(limits.firingsOfOthersMs, ofOthers.over());
      return Promise.all([own?.over(), others]).then(() => own?.check());
    },
  };
}

/** Commits that are waited for: not all of them are kept in memory until the last one is over. */
function createCommits() {
  const waiting = new Set<Promise<void>>();
  let failure: unknown;
  return {
    add(commit: Promise<void>): void {
      const fail = (reason: unknown): void => {
        failure ??= reason;
      };
      const over = commit.catch(fail).finally(() => waiting.delete(over));
      waiting.add(over);
    },
    isFailed: () => failure !== undefined,
    /** Resolves when those that were added so far are over, whatever became of them. */
    over: (): Promise<unknown> => Promise.all(waiting),
    /** Throws what went wrong first. */
    check(): void {
      if (failure !== undefined) throw failure;
    },
  };
}

type Commits = ReturnType<typeof createCommits>;

/** Resolves when the work is over, or after so long. */
export async function atMost(ms: number, work: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const patience = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await Promise.race([work, patience]);
  clearTimeout(timer);
}

/** Owner whose rules for all devices watch it; undefined until it was accepted [contract 14]. */
export const ownerFor = ({ owner, isPending }: Device): Username | undefined =>
  isPending === true ? undefined : owner;

/** Keeps a failure from being unhandled when no caller waits; callers that wait still get it. */
export function handled<Result>(work: Promise<Result>): Promise<Result> {
  work.catch(() => undefined);
  return work;
}

/** The datapoints of one push in the order of their times. */
interface PushedOrder {
  readonly count: number;
  at(place: number): Datapoint;
}

/** The batch of a push that is long. */
export const longBatchOf = ({ batch }: StoredPush): ColumnBatch | undefined =>
  batch !== undefined && batch.count > limits.datapointsPerTurn ? batch : undefined;

/** The order of a short push. */
function shortOrder(push: StoredPush): PushedOrder {
  const datapoints = inOrderOfTime(push.datapoints);
  return { count: datapoints.length, at: (place) => datapoints[place] as Datapoint };
}

/** The order of a long push, made row by row in slices of the event loop. */
export async function longOrder(batch: ColumnBatch, pace: Pace): Promise<PushedOrder> {
  const steps = rowsByTime(batch.times.subarray(0, batch.count));
  let step = steps.next();
  for (; step.done !== true; step = steps.next()) if (pace.isOver()) await pace.rest();
  const rows = step.value;
  const at = (place: number) => datapointAt(batch, rows === undefined ? place : (rows[place] ?? 0));
  return { count: batch.count, at };
}

const rowsPerStep = 8_192;

/**
 * The places of times in their order, equal ones in the order given; undefined: all are in order. A
 * merge sort, which can pause.
 */
export function* rowsByTime(times: Float64Array): Generator<void, Uint32Array | undefined> {
  const timeOf = (row: number | undefined): number => times[row ?? 0] ?? 0;
  if (times.every((time, row) => row === 0 || timeOf(row - 1) <= time)) return undefined;
  yield;
  let rows = new Uint32Array(times.length).map((_, row) => row);
  let merged = new Uint32Array(times.length);
  for (let width = 1; width < times.length; width *= 2) {
    for (let from = 0; from < times.length; from += 2 * width) {
      const middle = Math.min(from + width, times.length);
      const end = Math.min(from + 2 * width, times.length);
      let [left, right] = [from, middle];
      for (let to = from; to < end; to += 1) {
        const isLeft = left < middle && (right >= end || timeOf(rows[left]) <= timeOf(rows[right]));
        merged[to] = (isLeft ? rows[left] : rows[right]) ?? 0;
        if (isLeft) left += 1;
        else right += 1;
        if (to % rowsPerStep === 0) yield;
      }
    }
    [rows, merged] = [merged, rows];
  }
  return rows;
}
