import type { NewPush } from '../datapoints/appender.ts';
import { type ColumnBatch, toDatapoints } from '../datapoints/column-batch.ts';
import type { Commit, NewEvaluation } from '../datapoints/datapoint-store.ts';
import type { StoredPush } from '../datapoints/feed.ts';
import { type Device, sensorOf } from '../devices/device.ts';
import type { DeviceId, NotificationId } from '../ids.ts';
import { limits } from '../limits.ts';
import { evaluationLimits } from './evaluation-limits.ts';
import type { Evaluation, Evaluations } from './evaluations.ts';
import type { EvaluationStore, Remembered } from './notification-store.ts';
import { ownerFor } from './push-evaluations.ts';
import type { RuleBook } from './rule-book.ts';
import { isCalm, isOfStates, type Watched } from './rule-evaluation.ts';

/** A push that rules concern, and may be judged in its commit. */
interface Judged extends Watched {
  readonly batch: ColumnBatch;
}

/** The outcome of a rule's evaluation in a commit, to be noted behind it. */
type NotedOutcome = readonly [NotificationId, Evaluation];

/** Judges in the commit of pushes which of them call for an evaluation in the device's queue. */
export function createCommitEvaluations(parts: {
  readonly book: Pick<RuleBook, 'index'>;
  readonly peekDevice: (id: DeviceId) => Device | undefined;
  readonly looks: Pick<EvaluationStore, 'remembered'>;
  readonly newEvaluation: (deviceId: DeviceId) => NewEvaluation;
  /** The push that was published as this text; undefined: it was none. */
  readonly pushOf: (text: string) => StoredPush | undefined;
  /** Milliseconds that pass; absent: those of the process. */
  readonly elapsed?: () => number;
}) {
  const { book, looks, newEvaluation, elapsed = () => performance.now() } = parts;
  /** Outcomes by the batch of a push. */
  const outcomes = new WeakMap<ColumnBatch, readonly NotedOutcome[]>();

  /** The push with its rules; undefined: it has to be evaluated in its turn. */
  function judgedOf({ push, outcome }: NewPush): Judged | undefined {
    const { deviceId, sensorId, batch } = push;
    // An evaluation that waits would take a push of the same moment for older than its own.
    if (outcome.isLater !== true || !isShort(batch)) return undefined;
    const device = parts.peekDevice(deviceId);
    const sensor = device && sensorOf(device, sensorId);
    if (device === undefined || sensor === undefined) return undefined;
    const rules = book.index.rulesOn(deviceId, sensorId, ownerFor(device));
    return { device, sensor, batch, rules };
  }

  /** Pushes of waiting evaluations; undefined: not all are known. */
  function pushesOf(texts: readonly string[]): PushBefore[] | undefined {
    if (texts.length > evaluationLimits.waitingJudgedMax) return undefined;
    const pushes = texts.flatMap((text) => (text === '' ? [] : (parts.pushOf(text) ?? [])));
    const isWhole = pushes.every((one) => one.isPart !== true && one.wholeCount === undefined);
    return isWhole && pushes.length === texts.length ? pushes : undefined;
  }

  /**
   * Whether no rule fires, and none remembers anything else behind it: neither for the push nor for
   * those `before` it that are not evaluated yet.
   */
  function isOver(judged: Judged, states?: States, before: readonly PushBefore[] = []): boolean {
    const ofSensor = before.filter(({ sensorId }) => sensorId === judged.sensor.id);
    for (const { datapoints } of ofSensor) {
      if (!isCalm(unnoted, judged, datapoints, states)) return false;
    }
    const noted: NotedOutcome[] = [];
    const evaluations = { note: (...one: NotedOutcome) => void noted.push(one) };
    if (!isCalm(evaluations, judged, toDatapoints(judged.batch), states)) return false;
    outcomes.set(judged.batch, noted);
    return true;
  }

  return {
    /**
     * The evaluations that pushes are filed with; undefined: no rule asks for one, or the push and
     * what its rules remember say that none fires.
     */
    async evaluationsOf(
      pushes: readonly NewPush[],
      commit: Commit,
    ): Promise<readonly (NewEvaluation | undefined)[]> {
      let until = elapsed() + limits.turnMs;
      const concerned = pushes.filter(({ push }) =>
        book.index.concerns(push.deviceId, push.sensorId),
      );
      if (concerned.length === 0) return [];
      /** Pushes that what rules remember may settle. */
      const asking = new Map<NewPush, Judged>();
      const filed = new Set<NewPush>();
      let asked = 0;
      for (const one of concerned) {
        const judged = elapsed() < until ? judgedOf(one) : undefined;
        if (judged !== undefined && isOver(judged)) continue;
        filed.add(one);
        if (judged === undefined || one.outcome.isAhead !== true || !isOfStates(judged)) continue;
        const { rules, batch } = judged;
        if (rules.length * batch.count > evaluationLimits.calmEvaluationsMax) continue;
        asked += rules.length;
        if (asked <= evaluationLimits.rememberedPerCommitMax) asking.set(one, judged);
      }
      if (asking.size > 0) await settle(commit);
      return pushes.map((one) => (filed.has(one) ? newEvaluation(one.push.deviceId) : undefined));

      /** Pushes that wait on a device, or are filed, are evaluated before those behind them. */
      async function settle(of: Commit): Promise<void> {
        const found = await looks.remembered(of, [...asking.values()].map(questionOf));
        until = elapsed() + limits.turnMs;
        const states = new Map<NewPush, States>();
        /** Undefined: not all are known, so nothing behind them is judged. */
        const unevaluated = new Map<DeviceId, PushBefore[] | undefined>();
        for (const [at, one] of [...asking.keys()].entries()) {
          const { states: own, waiting } = found[at] as Remembered;
          states.set(one, own);
          const { deviceId } = one.push;
          if (unevaluated.has(deviceId)) continue;
          unevaluated.set(deviceId, elapsed() < until ? pushesOf(waiting) : undefined);
        }
        for (const one of filed) {
          const { deviceId, sensorId, batch } = one.push;
          const before = unevaluated.get(deviceId);
          const judged = elapsed() < until ? asking.get(one) : undefined;
          if (before && judged && isOver(judged, states.get(one), before)) filed.delete(one);
          else if (before && isShort(batch) && before.length < evaluationLimits.waitingJudgedMax) {
            before.push({ sensorId, datapoints: toDatapoints(batch) });
          } else unevaluated.set(deviceId, undefined);
        }
      }
    },
    /** The outcomes of a push that was over in its commit, once. */
    noteOutcomes(batch: ColumnBatch, { note }: Pick<Evaluations, 'note'>): void {
      for (const one of outcomes.get(batch) ?? []) note(...one);
    },
  };
}

/** A push that comes before another one, and is not evaluated yet. */
type PushBefore = Pick<StoredPush, 'sensorId' | 'datapoints'>;
type States = Remembered['states'];
const unnoted = { note: () => undefined };
const questionOf = ({ device, rules }: Judged) => ({
  deviceId: device.id,
  ids: rules.map(({ notification }) => notification.id),
});

const isShort = ({ count, texts }: ColumnBatch): boolean =>
  count <= evaluationLimits.calmEvaluationsMax &&
  (texts ?? []).every((text = '') => text.length <= limits.otherValueCharactersMax);
