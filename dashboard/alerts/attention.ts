import type { Notification } from '../api/alert-types.ts';
import { instantOf } from '../api/freshness.ts';
import type { Device } from '../api/types.ts';
import { numberOf } from '../i18n/formats.ts';
import { type Condition, isNumeral, readSentence } from './read-sentence.ts';

/** The condition of an alert that a device meets at this moment. */
export interface Concern {
  readonly alert: Notification;
  readonly condition: Condition;
}

/** An alert that can be looked at without the service. */
export interface Watch {
  readonly alert: Notification;
  readonly conditions: readonly [Condition, ...Condition[]];
}

/** The active alerts that the form has words for; read once, looked at often. */
export function watchesOf(alerts: readonly Notification[]): readonly Watch[] {
  return alerts.flatMap((alert): readonly Watch[] => {
    if (alert.status !== 'active') return [];
    const [first, ...more] = readSentence(alert.condition.expression)?.conditions ?? [];
    return first === undefined ? [] : [{ alert, conditions: [first, ...more] }];
  });
}

/**
 * What a device should be looked at for: the first alert all conditions of which its last values
 * meet. The service alone decides when something is sent.
 */
export function concernOf(
  device: Device,
  watched: readonly Watch[],
  now: number,
): Concern | undefined {
  const found = watched.find(
    ({ alert, conditions }) =>
      watches(alert, device) && conditions.every((one) => meets(device, one, now)),
  );
  return found === undefined ? undefined : { alert: found.alert, condition: found.conditions[0] };
}

function meets({ sensors }: Device, condition: Condition, now: number): boolean {
  const last = sensors.find(({ id }) => id === condition.sensor)?.last_value;
  if (last === undefined) return false;
  if (condition.kind === 'silent') {
    const at = instantOf(last);
    return at !== undefined && now - at >= condition.seconds * 1_000;
  }
  const number = numberOf(last.value);
  if (condition.kind === 'range') {
    if (number === undefined) return false;
    const isWithin = number >= Number(condition.low) && number <= Number(condition.high);
    return isWithin === (condition.placing === 'between');
  }
  const { comparison, value } = condition;
  if (!isNumeral(value)) {
    const isSame = String(last.value) === value;
    return comparison === 'equals' ? isSame : comparison === 'differs' && !isSame;
  }
  if (number === undefined) return false;
  const other = Number(value);
  // Two numbers that one double stands for: which is greater is for the service to say.
  if (number === other && last.value instanceof Number && String(last.value) !== value) {
    return comparison === 'differs';
  }
  return compares[comparison](number, other);
}

const compares = {
  below: (a: number, b: number) => a < b,
  above: (a: number, b: number) => a > b,
  atMost: (a: number, b: number) => a <= b,
  atLeast: (a: number, b: number) => a >= b,
  equals: (a: number, b: number) => a === b,
  differs: (a: number, b: number) => a !== b,
} as const;

/** Whether an alert looks at a device: at those it names, else at all of its owner. */
export function watches(
  { condition, owner }: Pick<Notification, 'condition' | 'owner'>,
  device: { readonly id: string; readonly owner: string },
): boolean {
  const { devices } = condition;
  return devices.length === 0 ? device.owner === owner : devices.includes(device.id);
}

/** Where an alert would fire for a sensor of a device, when that is one number. */
export function thresholdOf(
  alerts: readonly Notification[],
  device: Parameters<typeof watches>[1],
  sensorId: string,
): number | undefined {
  for (const alert of alerts) {
    if (alert.status !== 'active' || !watches(alert, device)) continue;
    const test = readSentence(alert.condition.expression)?.conditions.find(
      (condition) => condition.sensor === sensorId && condition.kind === 'compare',
    );
    if (test?.kind === 'compare' && isNumeral(test.value)) return Number(test.value);
  }
  return undefined;
}
