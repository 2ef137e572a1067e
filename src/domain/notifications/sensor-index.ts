import type { DeviceId, NotificationId, SensorId, Username } from '../ids.ts';
import type { Rule } from './rule.ts';

/** Finds the rules that a push concerns; a push that concerns none costs two look-ups. */
export interface SensorIndex {
  /** Adds a rule, or puts it in the place of the one with the same id. */
  put(rule: Rule): void;
  remove(id: NotificationId): void;
  find(id: NotificationId): Rule | undefined;
  /** Whether any rule may concern the sensor. */
  concerns(deviceId: DeviceId, sensorId: SensorId): boolean;
  /** The rules that a push to this sensor is looked at for, in order of creation. */
  rulesOn(deviceId: DeviceId, sensorId: SensorId, owner: Username): readonly Rule[];
  /** The rules that name the sensor there; undefined: those of this owner for every device. */
  rulesAt(deviceId: DeviceId | undefined, sensorId: SensorId, owner: Username): readonly Rule[];
  /** In order of creation. */
  all(): readonly Rule[];
}

export function createSensorIndex(): SensorIndex {
  const rules = new Map<NotificationId, Rule>();
  const byDevice = new Map<DeviceId, Map<SensorId, Rule[]>>();
  /** Rules for every device of their owner: by sensor, then owner. */
  const byOwner = new Map<SensorId, Map<string, Rule[]>>();
  let lastPlace = 0;

  function eachPlace(rule: Rule, visit: <Key, Inner>(visited: Visit<Key, Inner>) => void): void {
    const { condition, owner } = rule.notification;
    for (const sensorId of rule.triggers) {
      if (condition.devices.length === 0) {
        visit({ map: byOwner, key: sensorId, inner: owner.toLowerCase() });
      }
      for (const deviceId of condition.devices) {
        visit({ map: byDevice, key: deviceId, inner: sensorId });
      }
    }
  }

  function take(id: NotificationId): Rule | undefined {
    const rule = rules.get(id);
    if (rule === undefined) return undefined;
    rules.delete(id);
    eachPlace(rule, (visited) => withoutRule(visited, rule));
    return rule;
  }

  return {
    put(rule) {
      const { id } = rule.notification;
      const known = take(id);
      lastPlace += 1;
      rule.place = known?.place ?? lastPlace;
      rules.set(id, rule);
      eachPlace(rule, (visited) => withRule(visited, rule));
    },
    remove(id) {
      take(id);
    },
    find: (id) => rules.get(id),
    concerns: (deviceId, sensorId) =>
      (byOwner.size > 0 && byOwner.has(sensorId)) || byDevice.get(deviceId)?.has(sensorId) === true,
    rulesOn(deviceId, sensorId, owner) {
      const onDevice = byDevice.get(deviceId)?.get(sensorId) ?? none;
      const wide = byOwner.size === 0 ? undefined : byOwner.get(sensorId);
      const onAll = wide?.get(owner.toLowerCase()) ?? none;
      return onAll.length === 0 ? onDevice : inOrder([...onDevice, ...onAll]);
    },
    rulesAt: (deviceId, sensorId, owner) =>
      (deviceId === undefined
        ? byOwner.get(sensorId)?.get(owner.toLowerCase())
        : byDevice.get(deviceId)?.get(sensorId)) ?? none,
    all: () => [...rules.values()].sort((a, b) => a.place - b.place),
  };
}

const none: readonly Rule[] = [];

interface Visit<Key, Inner> {
  readonly map: Map<Key, Map<Inner, Rule[]>>;
  readonly key: Key;
  readonly inner: Inner;
}

function withRule<Key, Inner>({ map, key, inner }: Visit<Key, Inner>, rule: Rule): void {
  const found = map.get(key) ?? new Map<Inner, Rule[]>();
  map.set(key, found);
  // A new list each time: the old one may be under way.
  const list = [...(found.get(inner) ?? none), rule];
  const isLast = (list.at(-2)?.place ?? 0) < rule.place;
  found.set(inner, isLast ? list : list.sort((a, b) => a.place - b.place));
}

function withoutRule<Key, Inner>({ map, key, inner }: Visit<Key, Inner>, gone: Rule): void {
  const found = map.get(key);
  const others = found?.get(inner)?.filter((rule) => rule !== gone) ?? [];
  if (others.length > 0) found?.set(inner, others);
  else found?.delete(inner);
  if (found?.size === 0) map.delete(key);
}

const inOrder = (rules: Rule[]): readonly Rule[] => rules.sort((a, b) => a.place - b.place);
