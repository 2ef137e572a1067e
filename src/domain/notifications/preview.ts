import type { Clock, Instant } from '../../lib/clock.ts';
import { createBreather } from '../../lib/event-loop.ts';
import { ownPace } from '../../lib/scheduling/fair-slices.ts';
import type { Access } from '../access/policy.ts';
import type { Actor } from '../actor.ts';
import { type Budget, payerOf } from '../budgets/budget.ts';
import { type Datapoint, isDatedAhead, orderTime } from '../datapoints/datapoint.ts';
import { datapointsIn } from '../datapoints/datapoint-columns.ts';
import type { DatapointStore } from '../datapoints/datapoint-store.ts';
import { mergeSteps } from '../datapoints/merged-history.ts';
import type { Source } from '../datapoints/sensor-selection.ts';
import type { Device } from '../devices/device.ts';
import { deviceResource } from '../devices/devices.ts';
import { invalid } from '../errors.ts';
import { type DeviceId, parseNotificationId, type SensorId } from '../ids.ts';
import { limits } from '../limits.ts';
import { requirePerson } from '../users/account-access.ts';
import { evaluationLimits } from './evaluation-limits.ts';
import type { Evaluation } from './evaluations.ts';
import { parseExpression } from './expression.ts';
import { messageAt } from './firing.ts';
import type { DeviceState, NotificationDraft } from './notification.ts';
import { requireSound } from './notifications.ts';
import type { Rule } from './rule.ts';
import type { RuleBook } from './rule-book.ts';
import { readingAt } from './rule-evaluation.ts';
import { compacted, SeenValues } from './sensor-values.ts';
import { evaluateAgainAt, freshState, type Reading, type RuleState, step } from './step.ts';

/** The outcome of a draft: the first of its firings, and counts of all. */
export type Previewed = Awaited<ReturnType<typeof replay>>;

/** Runs a draft over stored history: when would it have fired? Nothing is sent or kept. */
export type Preview = (
  actor: Actor,
  draft: NotificationDraft,
  range: { readonly from: Instant; readonly to?: Instant },
) => Promise<Previewed>;

/** A datapoint, or the end of a silence, at its time. */
interface Moment {
  readonly time: Instant;
  readonly device: Device;
  readonly sensorId: SensorId;
  readonly datapoint?: Datapoint;
  readonly silence?: {
    readonly silentSince: Instant;
    /** Asks for an evaluation at a time when time alone may change the outcome. */
    readonly lookAgain: (at: Instant) => void;
  };
}

export function createPreview(parts: {
  readonly datapoints: Pick<DatapointStore, 'scan'>;
  readonly access: Access;
  readonly book: Pick<RuleBook, 'devicesOf'>;
  readonly clock: Clock;
  readonly budget: Budget;
}): Preview {
  const { datapoints, access, book, clock, budget } = parts;

  const preview: Preview = async (actor, draft, { from, to = clock.now() }) => {
    const range = { from, to };
    const { username: owner } = requirePerson(actor);
    if (range.from > range.to) throw invalid('from must not be after to');
    const id = parseNotificationId('0'.repeat(24));
    const dates = { createdAt: range.from, modifiedAt: range.from };
    parseExpression(draft.condition.expression, { isStrict: true });
    const rule = requireSound({ ...draft, id, owner, ...dates, status: 'active' }, payerOf(actor));
    const names = new Set<string>([...rule.triggers, ...rule.named]);
    const devices: Device[] = [];
    for await (const some of book.devicesOf(rule)) {
      if (devices.length + some.length > limits.previewDevicesMax) {
        throw invalid(`a preview looks at ${limits.previewDevicesMax} devices at most`);
      }
      for (const device of some) {
        await access.require(actor, 'devices-data:view', deviceResource(device));
        devices.push(lookedAt(device, names));
      }
    }
    const sources = sourcesOf(devices);
    return replay(rule, momentsOf({ rule, sources, range, datapoints, now: clock.now() }));
  };

  return async (actor, draft, range) => {
    const payer = payerOf(requirePerson(actor));
    // A few at a time: each holds some of the datapoints of all its sensors.
    budget.takeOrThrow(payer, 1);
    try {
      return await preview(actor, draft, range);
    } finally {
      budget.release(payer, 1);
    }
  };
}

interface DeviceSource extends Source {
  readonly device: Device;
}

/** A device without what a preview never reads: `meta` may have megabytes. */
function lookedAt(device: Device, names: ReadonlySet<string>): Device {
  const sensors = device.sensors.filter(({ id }) => names.has(id));
  return { ...device, sensors: sensors.map(({ meta: _, ...sensor }) => sensor), actuators: [] };
}

/** The sensors whose datapoints are evaluated, or shown in the message: devices have no others. */
function sourcesOf(devices: readonly Device[]): readonly DeviceSource[] {
  const sources = devices.flatMap((device) =>
    device.sensors.map((sensor) => ({
      ...{ device, sensor, ref: { deviceId: device.id, sensorId: sensor.id } },
    })),
  );
  const max = limits.previewSensorsMax;
  if (sources.length <= max) return sources;
  throw invalid(`a preview looks at ${max} sensors of all devices at most, got ${sources.length}`);
}

/** Moments in order of time, a step of datapoints in memory at a time. */
async function* momentsOf(options: {
  readonly rule: Rule;
  readonly sources: readonly DeviceSource[];
  readonly range: { readonly from: Instant; readonly to: Instant };
  readonly datapoints: Pick<DatapointStore, 'scan'>;
  readonly now: Instant;
}): AsyncGenerator<Moment> {
  const { rule, sources, range, datapoints, now } = options;
  const end = Math.min(range.to, now);
  const { previewDatapointsMax: max } = limits;
  const quiet = createQuiet(rule, sources, range.from);
  const page = { ...range, order: 'asc', skip: 0, limit: max + 1 } as const;
  let count = 0;
  const steps = mergeSteps({
    ...{ store: datapoints, sources, page, query: { isCalibrated: true }, pace: ownPace() },
  });
  for await (const step of steps) {
    for (const [source, shown] of datapointsIn(step)) {
      count += 1;
      if (count > max) {
        throw invalid(`a preview looks at ${max} datapoints at most: choose a shorter time`);
      }
      const { device, sensor } = source;
      const time = orderTime(shown);
      yield* quiet.until(Math.min(time, end));
      quiet.heard(source, time);
      const datapoint = {
        ...shown,
        value: compacted(shown.value, limits.otherValueCharactersMax),
      };
      yield { time, device, sensorId: sensor.id, datapoint };
    }
  }
  yield* quiet.until(end);
}

/** When which sensor will have been silent for as long as the rule says. */
function createQuiet(rule: Rule, sources: readonly DeviceSource[], from: Instant) {
  const waits = sources.flatMap((source) =>
    rule.expression.silences
      .filter(({ sensorId }) => sensorId === source.sensor.id)
      .map(({ durationMs }) => ({
        ...{ source, durationMs, silentSince: from, dueAt: from + durationMs },
      })),
  );
  const waitsOf = Map.groupBy(waits, ({ source }) => source);
  let nextAt = nextOf();

  function nextOf(): Instant {
    return waits.reduce((least, { dueAt }) => Math.min(least, dueAt), Number.POSITIVE_INFINITY);
  }

  return {
    heard(source: DeviceSource, time: Instant): void {
      for (const wait of waitsOf.get(source) ?? []) {
        wait.silentSince = time;
        wait.dueAt = time + wait.durationMs;
        nextAt = Math.min(nextAt, wait.dueAt);
      }
    },
    *until(time: Instant): Generator<Moment> {
      // Deadlines only move away, so the next one is computed when it seems to be reached.
      while (nextAt <= time) {
        nextAt = nextOf();
        const due = waits.filter(({ dueAt }) => dueAt === nextAt && dueAt <= time);
        for (const wait of due) {
          const { source, silentSince, dueAt } = wait;
          const { device, sensor } = source;
          wait.dueAt = Number.POSITIVE_INFINITY;
          const lookAgain = (at: Instant) => {
            wait.dueAt = at;
          };
          yield { time: dueAt, device, sensorId: sensor.id, silence: { silentSince, lookAgain } };
        }
        if (due.length > 0) nextAt = nextOf();
      }
    },
  };
}

async function replay(rule: Rule, moments: AsyncIterable<Moment>) {
  /** Moments at which the draft would have fired; without a message for an actuation. */
  const firings: (Omit<Evaluation, 'outcome'> & { readonly message?: string })[] = [];
  const devices = new Map<DeviceId, { readonly values: SeenValues; state: DeviceState }>();
  const triggers = new Set<SensorId>(rule.triggers);
  const counts = { fired: 0, throttled: 0, datapoints: 0 };
  const late = createLateCount(rule.maxAgeMs);
  let window: Pick<RuleState, 'lastFiredAt'> = {};
  const breathe = createBreather();
  for await (const { time, device, sensorId, datapoint, silence } of moments) {
    await breathe();
    const known = devices.get(device.id) ?? { values: new SeenValues(), state: freshState.device };
    devices.set(device.id, known);
    if (datapoint !== undefined) {
      counts.datapoints += 1;
      if (triggers.has(sensorId)) late.add(device.id, sensorId, datapoint);
      known.values.set(sensorId, { value: datapoint.value, at: time, ageMs: 0 });
    }
    if (silence === undefined && !triggers.has(sensorId)) continue;
    const reading: Reading = {
      ...readingAt(known.values, time, { sensorId }),
      ...(datapoint !== undefined && { datapoint }),
      ...(silence !== undefined && { silentSince: silence.silentSince }),
    };
    const result = step(rule, { ...window, device: known.state }, reading);
    const { state, outcome, firing } = result;
    known.state = (firing?.state ?? state).device;
    if (outcome === 'throttled') counts.throttled += 1;
    const nextAt = evaluateAgainAt(rule, result);
    if (nextAt !== undefined) silence?.lookAgain(nextAt);
    if (firing === undefined) continue;
    counts.fired += 1;
    window = firing.state;
    if (firings.length >= limits.previewFiringsMax) continue;
    const message = messageAt(rule, device, reading);
    firings.push({
      ...{ at: time, deviceId: device.id, sensorId },
      ...(datapoint !== undefined && { value: datapoint.value }),
      ...(message !== undefined && { message }),
    });
  }
  // Datapoints that came so late that the rule would not have been evaluated for them.
  return { firings, ...counts, cameLate: late.count() };
}

/** Counts datapoints, in the order of their times, that rules passed over when they came. */
function createLateCount(maxAgeMs: number) {
  /** By sensor, counts of those that nothing newer was received before, in order of receipt. */
  const inTime = new Map<string, { readonly at: Instant; count: number }[]>();
  let count = 0;
  return {
    add(deviceId: DeviceId, sensorId: SensorId, datapoint: Datapoint): void {
      const { receivedAt: at } = datapoint;
      const key = `${deviceId} ${sensorId} ${isDatedAhead(datapoint)}`;
      const received = inTime.get(key) ?? [];
      inTime.set(key, received);
      while ((received.at(-1)?.at ?? 0) > at) count += received.pop()?.count ?? 0;
      if (at - orderTime(datapoint) > maxAgeMs) {
        count += 1;
        return;
      }
      const last = received.at(-1);
      if (last?.at === at) last.count += 1;
      else received.push({ at, count: 1 });
      // Of a backlog that came later than so many newer ones, the first are not counted.
      if (received.length > 2 * evaluationLimits.lateCountMax)
        received.splice(0, evaluationLimits.lateCountMax);
    },
    count: (): number => count,
  };
}
