import type { DeviceId, NotificationId, SensorId, Username } from '../ids.ts';
import { limits } from '../limits.ts';
import type { Rule } from './rule.ts';

/** A rule with its place in the order of creation. */
interface PlacedRule extends Rule {
  readonly place: number;
}

/** The rules that name a device. */
interface DeviceRules {
  readonly rules: PlacedRule[];
  /** Of the sensors that were asked for: those that are pushed to, whatever the rules name. */
  readonly bySensor: Map<SensorId, readonly PlacedRule[]>;
}

/** Finds the rules that a push concerns; a push that concerns none costs two look-ups. */
export function createSensorIndex() {
  const rules = new Map<NotificationId, PlacedRule>();
  const byDevice = new Map<DeviceId, DeviceRules>();
  /** Rules for every device of their owner: by sensor, then owner. */
  const byOwner = new Map<SensorId, Map<string, readonly PlacedRule[]>>();
  const byCreator = new Map<string, Set<PlacedRule>>();
  let lastPlace = 0;

  function onDevice(deviceId: DeviceId, sensorId: SensorId): readonly PlacedRule[] {
    const device = byDevice.get(deviceId);
    if (device === undefined) return none;
    const known = device.bySensor.get(sensorId);
    if (known !== undefined) return known;
    const found = device.rules.filter(({ triggers }) => triggers.includes(sensorId));
    const ordered = found.length === 0 ? none : inOrder(found);
    if (device.bySensor.size >= limits.sensorsPerDeviceMax) device.bySensor.clear();
    device.bySensor.set(sensorId, ordered);
    return ordered;
  }

  function forgetSensors({ bySensor }: DeviceRules, { triggers }: Rule): void {
    if (bySensor.size === 0) return;
    for (const sensorId of triggers) bySensor.delete(sensorId);
  }

  /** Replaces the lists that have a rule for every device: the old ones may be under way. */
  function changeWide(
    { notification: { condition, owner }, triggers }: Rule,
    change: (list: readonly PlacedRule[]) => readonly PlacedRule[],
  ): void {
    if (condition.devices.length > 0) return;
    const creator = owner.toLowerCase();
    for (const sensorId of triggers) {
      const lists = byOwner.get(sensorId) ?? new Map<string, readonly PlacedRule[]>();
      const list = change(lists.get(creator) ?? none);
      if (list.length > 0) byOwner.set(sensorId, lists.set(creator, list));
      else if (lists.delete(creator) && lists.size === 0) byOwner.delete(sensorId);
    }
  }

  function enter(rule: PlacedRule): void {
    const { condition, owner } = rule.notification;
    const creator = owner.toLowerCase();
    byCreator.set(creator, (byCreator.get(creator) ?? new Set()).add(rule));
    for (const deviceId of condition.devices) {
      const device: DeviceRules = byDevice.get(deviceId) ?? { rules: [], bySensor: new Map() };
      byDevice.set(deviceId, device);
      device.rules.push(rule);
      forgetSensors(device, rule);
    }
    changeWide(rule, (list) => inOrder([...list, rule]));
  }

  function leave(rule: PlacedRule): void {
    const { condition, owner } = rule.notification;
    const own = byCreator.get(owner.toLowerCase());
    own?.delete(rule);
    if (own?.size === 0) byCreator.delete(owner.toLowerCase());
    for (const deviceId of condition.devices) {
      const device = byDevice.get(deviceId);
      const at = device?.rules.indexOf(rule) ?? -1;
      if (device === undefined || at < 0) continue;
      device.rules.splice(at, 1);
      forgetSensors(device, rule);
      if (device.rules.length === 0) byDevice.delete(deviceId);
    }
    changeWide(rule, (list) => list.filter((one) => one !== rule));
  }

  function take(id: NotificationId): PlacedRule | undefined {
    const rule = rules.get(id);
    if (rule === undefined) return undefined;
    rules.delete(id);
    leave(rule);
    return rule;
  }

  return {
    /** Adds a rule, or puts it in the place of the one with the same id. */
    put(rule: Rule): void {
      const { id } = rule.notification;
      const known = take(id);
      lastPlace += 1;
      const placed = { ...rule, place: known?.place ?? lastPlace };
      rules.set(id, placed);
      enter(placed);
    },
    remove(id: NotificationId): void {
      take(id);
    },
    find: (id: NotificationId): Rule | undefined => rules.get(id),
    /** Whether any rule may concern the sensor. */
    concerns: (deviceId: DeviceId, sensorId: SensorId): boolean =>
      (byOwner.size > 0 && byOwner.has(sensorId)) ||
      (byDevice.size > 0 && onDevice(deviceId, sensorId).length > 0),
    /** The rules that a push to this sensor is evaluated for, in order of creation. */
    rulesOn(deviceId: DeviceId, sensorId: SensorId, owner: Username | undefined): readonly Rule[] {
      const named = byDevice.size === 0 ? none : onDevice(deviceId, sensorId);
      const wide = byOwner.size === 0 ? undefined : byOwner.get(sensorId);
      const onAll = owner === undefined ? none : (wide?.get(owner.toLowerCase()) ?? none);
      return onAll.length === 0 ? named : inOrder([...named, ...onAll]);
    },
    /** The rules that name the sensor there; undefined: those of this owner for every device. */
    rulesAt: (
      deviceId: DeviceId | undefined,
      sensorId: SensorId,
      owner: Username,
    ): readonly Rule[] =>
      deviceId === undefined
        ? (byOwner.get(sensorId)?.get(owner.toLowerCase()) ?? none)
        : onDevice(deviceId, sensorId),
    /** The rules that name the device, in no order. */
    rulesNaming: (deviceId: DeviceId): readonly Rule[] => byDevice.get(deviceId)?.rules ?? none,
    /** Every device that a rule names. */
    namedDevices: (): readonly DeviceId[] => [...byDevice.keys()],
    /** The rules that a user made, in no order. */
    rulesBy: (owner: string): Iterable<Rule> => byCreator.get(owner.toLowerCase()) ?? none,
    /** In order of creation. */
    all: (): readonly Rule[] => inOrder([...rules.values()]),
    /** Puts the rules that are in the index in order of creation. */
    inOrder: (some: Iterable<Rule>): readonly Rule[] =>
      inOrder([...some].flatMap(({ notification: { id } }) => rules.get(id) ?? [])),
  };
}
export type SensorIndex = ReturnType<typeof createSensorIndex>;
const none: readonly PlacedRule[] = [];

const inOrder = (rules: PlacedRule[]): readonly PlacedRule[] =>
  rules.sort((a, b) => a.place - b.place);
