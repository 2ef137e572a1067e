import type { DeviceId, NotificationId, SensorId, Username } from '../ids.ts';
import type { Rule } from './rule.ts';

interface Placed {
  readonly rule: Rule;
  /** Its place in the order of creation. */
  readonly place: number;
}

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
  all(): Iterable<Rule>;
  countOf(owner: Username): number;
}

export function createSensorIndex(): SensorIndex {
  const rules = new Map<NotificationId, Placed>();
  const byDevice = new Map<DeviceId, Map<SensorId, Placed[]>>();
  /** Rules for every device of their owner: by sensor, then owner. */
  const byOwner = new Map<SensorId, Map<string, Placed[]>>();
  const counts = new Map<string, number>();
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

  function take(id: NotificationId): Placed | undefined {
    const placed = rules.get(id);
    if (placed === undefined) return undefined;
    rules.delete(id);
    eachPlace(placed.rule, (visited) => withoutPlaced(visited, placed));
    count(placed.rule.notification.owner, -1);
    return placed;
  }

  function count(owner: Username, by: number): void {
    const total = (counts.get(owner.toLowerCase()) ?? 0) + by;
    if (total === 0) counts.delete(owner.toLowerCase());
    else counts.set(owner.toLowerCase(), total);
  }

  return {
    put(rule) {
      const { id, owner } = rule.notification;
      const known = take(id);
      lastPlace += 1;
      const placed = { rule, place: known?.place ?? lastPlace };
      rules.set(id, placed);
      eachPlace(rule, (visited) => withPlaced(visited, placed));
      count(owner, 1);
    },
    remove(id) {
      take(id);
    },
    find: (id) => rules.get(id)?.rule,
    concerns: (deviceId, sensorId) =>
      (byOwner.size > 0 && byOwner.has(sensorId)) || byDevice.get(deviceId)?.has(sensorId) === true,
    rulesOn(deviceId, sensorId, owner) {
      const onDevice = byDevice.get(deviceId)?.get(sensorId) ?? none;
      const wide = byOwner.size === 0 ? undefined : byOwner.get(sensorId);
      const onAll = wide?.get(owner.toLowerCase()) ?? none;
      const found = onAll.length === 0 ? onDevice : inOrder([...onDevice, ...onAll]);
      return found.map(({ rule }) => rule);
    },
    *all() {
      for (const { rule } of rules.values()) yield rule;
    },
    countOf: (owner) => counts.get(owner.toLowerCase()) ?? 0,
  };
}

const none: readonly Placed[] = [];

interface Visit<Key, Inner> {
  readonly map: Map<Key, Map<Inner, Placed[]>>;
  readonly key: Key;
  readonly inner: Inner;
}

function withPlaced<Key, Inner>({ map, key, inner }: Visit<Key, Inner>, placed: Placed): void {
  const found = map.get(key) ?? new Map<Inner, Placed[]>();
  map.set(key, found);
  const list = found.get(inner) ?? [];
  found.set(inner, list);
  const isLast = (list.at(-1)?.place ?? 0) < placed.place;
  list.push(placed);
  if (!isLast) list.sort((a, b) => a.place - b.place);
}

function withoutPlaced<Key, Inner>({ map, key, inner }: Visit<Key, Inner>, gone: Placed): void {
  const found = map.get(key);
  const others = found?.get(inner)?.filter((placed) => placed !== gone) ?? [];
  if (others.length > 0) found?.set(inner, others);
  else found?.delete(inner);
  if (found?.size === 0) map.delete(key);
}

const inOrder = (placed: Placed[]): readonly Placed[] => placed.sort((a, b) => a.place - b.place);
