import type { Clock, Instant } from '../../lib/clock.ts';
import type { JsonValue } from '../../lib/json.ts';
import type { Access } from '../access/access.ts';
import type { Actor } from '../actor.ts';
import { type Datapoint, orderTime } from '../datapoints/datapoint.ts';
import type { DatapointStore } from '../datapoints/datapoint-store.ts';
import { calibratedDatapoint, readSteps } from '../datapoints/history.ts';
import type { Device } from '../devices/device.ts';
import { deviceResource } from '../devices/devices.ts';
import { invalid } from '../errors.ts';
import { type DeviceId, parseNotificationId, type SensorId } from '../ids.ts';
import { limits } from '../limits.ts';
import { requirePerson } from '../users/account-access.ts';
import { isSilenceOnly, type Reading } from './expression.ts';
import { fillMessage } from './message.ts';
import type { DeviceState, NotificationDraft } from './notification.ts';
import { requireSound } from './notifications.ts';
import { firedState, freshState, isThrottled, judge, type Rule } from './rule.ts';
import type { RuleBook } from './rule-book.ts';

/** One moment at which a draft would have fired. */
export interface PreviewedFiring {
  readonly at: Instant;
  readonly deviceId: DeviceId;
  readonly sensorId: SensorId;
  readonly value?: JsonValue;
  /** Absent for an actuation. */
  readonly message?: string;
}

export interface Previewed {
  /** The first of them. */
  readonly firings: readonly PreviewedFiring[];
  readonly fired: number;
  readonly throttled: number;
  /** Datapoints that were looked at. */
  readonly datapoints: number;
}

/** Runs a draft over stored history: when would it have fired? Nothing is sent or kept. */
export type Preview = (
  actor: Actor,
  draft: NotificationDraft,
  range: { readonly from: Instant; readonly to?: Instant },
) => Promise<Previewed>;

/** One datapoint, or the end of a silence, at its time. */
interface Moment {
  readonly time: Instant;
  readonly device: Device;
  readonly sensorId: SensorId;
  readonly datapoint?: Datapoint;
}

/** Datapoints that are looked at before others have their turn. */
const momentsPerTurn = 20_000;

export function createPreview(parts: {
  readonly datapoints: Pick<DatapointStore, 'read'>;
  readonly access: Access;
  readonly book: Pick<RuleBook, 'devicesOf'>;
  readonly clock: Clock;
}): Preview {
  const { datapoints, access, book, clock } = parts;
  return async (actor, draft, { from, to = clock.now() }) => {
    const range = { from, to };
    const { username: owner } = requirePerson(actor);
    if (range.from > range.to) throw invalid('from must not be after to');
    const id = parseNotificationId('0'.repeat(24));
    const dates = { createdAt: range.from, modifiedAt: range.from };
    const rule = requireSound({ ...draft, id, owner, ...dates, status: 'active' });
    const devices = await book.devicesOf(rule);
    if (devices.length > limits.previewDevicesMax) {
      throw invalid(`a preview looks at ${limits.previewDevicesMax} devices at most`);
    }
    for (const device of devices) {
      await access.require(actor, 'devices-data:view', deviceResource(device));
    }
    const moments = await collect({ rule, devices, range, datapoints, now: clock.now() });
    return replay(rule, moments);
  };
}

async function collect(options: {
  readonly rule: Rule;
  readonly devices: readonly Device[];
  readonly range: { readonly from: Instant; readonly to: Instant };
  readonly datapoints: Pick<DatapointStore, 'read'>;
  readonly now: Instant;
}): Promise<Moment[]> {
  const { rule, devices, range, datapoints, now } = options;
  const end = Math.min(range.to, now);
  const moments: Moment[] = [];
  // What is only shown in the message is needed for its last value too.
  const names = new Set<string>([...rule.triggers, ...rule.named]);
  for (const device of devices) {
    for (const sensor of device.sensors) {
      if (!names.has(sensor.id)) continue;
      const ref = { deviceId: device.id, sensorId: sensor.id };
      const page = { ...range, order: 'asc', skip: 0, limit: limits.previewDatapointsMax } as const;
      let seenAt = range.from;
      const waitTo = (next: Instant) => {
        for (const silence of rule.expression.silences) {
          const time = seenAt + silence.durationMs;
          if (silence.sensorId !== sensor.id || time > Math.min(next, end)) continue;
          moments.push({ time, device, sensorId: sensor.id });
        }
      };
      for await (const step of readSteps(datapoints as DatapointStore, ref, page)) {
        if (moments.length + step.length > limits.previewDatapointsMax) {
          const max = limits.previewDatapointsMax;
          throw invalid(`a preview looks at ${max} datapoints at most: choose a shorter time`);
        }
        for (const raw of step) {
          const time = orderTime(raw);
          waitTo(time);
          seenAt = time;
          const datapoint = calibratedDatapoint(sensor, raw);
          moments.push({ time, device, sensorId: sensor.id, datapoint });
        }
      }
      waitTo(Number.POSITIVE_INFINITY);
    }
  }
  return moments.sort((a, b) => a.time - b.time);
}

async function replay(rule: Rule, moments: readonly Moment[]): Promise<Previewed> {
  const firings: PreviewedFiring[] = [];
  const devices = new Map<DeviceId, Map<string, { value: JsonValue; at: Instant }>>();
  const triggers = new Set<SensorId>(rule.triggers);
  const states = new Map<DeviceId, DeviceState>();
  const counts = { fired: 0, throttled: 0, datapoints: 0 };
  const run = { ...rule };
  for (const [index, { time, device, sensorId, datapoint }] of moments.entries()) {
    if (index % momentsPerTurn === momentsPerTurn - 1) await nextTurn();
    const values = devices.get(device.id) ?? new Map();
    devices.set(device.id, values);
    if (datapoint !== undefined) {
      counts.datapoints += 1;
      values.set(sensorId, { value: datapoint.value, at: time });
    }
    // As in life: pushes do not end a silence, and time does not make a push.
    const isLookedAt =
      datapoint === undefined || (triggers.has(sensorId) && !isSilenceOnly(rule.expression));
    if (!isLookedAt || time > rule.expiresAt) continue;
    const reading: Reading = {
      now: time,
      value: (id) => values.get(id)?.value,
      seenAt: (id) => values.get(id)?.at ?? rule.notification.createdAt,
    };
    const judged = judge(rule.expression, states.get(device.id) ?? freshState, reading, time);
    states.set(device.id, judged.state);
    if (judged.verdict !== 'holds') continue;
    if (isThrottled(run, time)) {
      counts.throttled += 1;
      continue;
    }
    counts.fired += 1;
    run.lastFiredAt = time;
    states.set(device.id, firedState(rule.expression, judged.state));
    if (firings.length >= limits.previewFiringsMax) continue;
    const { action } = rule.notification;
    const variables = { deviceId: device.id, sensorId, value: reading.value };
    firings.push({
      ...{ at: time, deviceId: device.id, sensorId },
      ...(datapoint !== undefined && { value: datapoint.value }),
      ...(action.kind === 'message' && { message: fillMessage(action.message, variables) }),
    });
  }
  return { firings, ...counts };
}

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
