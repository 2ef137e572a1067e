import { createReadThroughCache } from '../../lib/cache.ts';
import { yieldToEventLoop } from '../../lib/event-loop.ts';
import { ownPace, type Pace } from '../../lib/scheduling/fair-slices.ts';
import type { GrantStore } from '../access/grant.ts';
import type { Access } from '../access/policy.ts';
import { createViewer, reaches, within } from '../access/viewer.ts';
import { type Actor, isInCharge } from '../actor.ts';
import type { LongWork } from '../budgets/long-work.ts';
import type { ChangeSource } from '../changes.ts';
import type { DeviceHead, DeviceStore } from '../devices/device.ts';
import { deviceResource } from '../devices/devices.ts';
import type { DeviceId } from '../ids.ts';
import { evaluationLimits } from './evaluation-limits.ts';
import { isAnother, isAnotherTarget } from './firing.ts';
import type { Action, BoundDevice, Notification, NotificationDraft } from './notification.ts';
import type { Rule } from './rule.ts';
import type { SensorIndex } from './sensor-index.ts';

/** Devices that are asked for in one slice of the event loop. */
const devicesPerTurn = 50;

/** Checks the devices that notifications name. */
export function createNamedDevices(parts: {
  readonly devices: Pick<DeviceStore, 'find'>;
  readonly index: Pick<SensorIndex, 'find'>;
  readonly access: Access;
}) {
  const { devices, access, index } = parts;

  /**
   * Refuses to watch data that the actor may not view, or to set what it may not set. Answers the
   * named devices that are there, and the action bound to its device.
   */
  async function requireRights(
    actor: Actor,
    draft: Pick<NotificationDraft, 'condition' | 'action'>,
  ): Promise<{ readonly found: readonly BoundDevice[]; readonly action: Action }> {
    const bound: BoundDevice[] = [];
    for (const [index, id] of draft.condition.devices.entries()) {
      if (index % devicesPerTurn === devicesPerTurn - 1) await yieldToEventLoop();
      const device = await devices.find(id);
      // A device that does not exist is no hindrance [contract 4].
      if (device === undefined) continue;
      await access.require(actor, 'devices-data:view', deviceResource(device));
      bound.push({ id, createdAt: device.createdAt });
    }
    const { action } = draft;
    if (action.kind !== 'actuation') return { found: bound, action };
    const target = await devices.find(action.deviceId);
    if (target !== undefined) await access.requireSetting(actor, deviceResource(target));
    return { found: bound, action: { ...action, deviceMadeAt: target?.createdAt ?? null } };
  }

  /**
   * Finds devices that it names and that are gone, also where another device has the id since, and
   * sensors of its condition that none of the named devices has.
   */
  async function lacksOf(notification: Notification) {
    const { id: ruleId, condition, action } = notification;
    const gone: DeviceId[] = [];
    const missing = new Set(index.find(ruleId)?.triggers);
    for (const [place, id] of condition.devices.entries()) {
      if (place % devicesPerTurn === devicesPerTurn - 1) await yieldToEventLoop();
      const device = await devices.find(id);
      if (device === undefined || isAnother(notification, device)) gone.push(id);
      else for (const sensor of device.sensors) missing.delete(sensor.id);
    }
    const isAnyThere = gone.length < condition.devices.length;
    const lacks = { goneDevices: gone, unknownSensors: isAnyThere ? [...missing] : [] };
    if (action.kind !== 'actuation' || gone.includes(action.deviceId)) return lacks;
    const target = await devices.find(action.deviceId);
    if (target === undefined || isAnotherTarget(notification, target)) gone.push(action.deviceId);
    return lacks;
  }

  return { requireRights, lacksOf };
}

/** Devices that the store is asked about at once. */
const devicesPerStep = 500;

/** Which notifications an actor may read: one's own, and those of which one sees all devices. */
export function createReadable(parts: {
  readonly index: SensorIndex;
  readonly devices: Pick<DeviceStore, 'list'>;
  readonly changes: ChangeSource;
  readonly grants: Pick<GrantStore, 'listReaching'>;
  readonly access: Pick<Access, 'settings'>;
  readonly longWork: Pick<LongWork, 'run'>;
}) {
  const { index, devices, changes, grants, access, longWork } = parts;
  // Rules of strangers name many devices, and each list of rules asks whom they are shown to.
  const heads = createReadThroughCache<DeviceId, DeviceHead | undefined>({
    entriesMax: evaluationLimits.namedHeadsMax,
    isCurrent: (readAt) => changes.isCurrent?.(readAt) !== false,
  });
  changes.onChange(async (change) => {
    if ('deviceId' in change) heads.forget(change.deviceId);
    if (change.kind === 'anything') heads.clear();
  });

  async function readHeads(ids: readonly DeviceId[]): Promise<ReadonlyMap<DeviceId, DeviceHead>> {
    const visibleTo = within({ who: 'everything' }, ids);
    const page = await devices.list({ visibleTo, limit: ids.length, offset: 0 });
    return new Map(page.devices.map((head) => [head.id, head]));
  }

  /** Finds devices that hinder no reader: those that the actor sees, and those that are gone. */
  async function unhidden(actor: Actor, ids: readonly DeviceId[], pace: Pace): Promise<Unhidden> {
    const found = new Map<DeviceId, DeviceHead | undefined>();
    if (ids.length === 0) return found;
    const { settings } = access;
    const { visibleTo } = await createViewer({ actor, kind: 'device', grants, settings });
    const { who } = visibleTo;
    const reach = { ...visibleTo, granted: typeof who === 'string' ? noIds : who.reached };
    for (let from = 0; from < ids.length; from += devicesPerStep) {
      const step = ids.slice(from, from + devicesPerStep);
      const missing = step.filter((id) => heads.peek(id) === undefined);
      let reading: ReturnType<typeof readHeads> | undefined;
      // One read for all that nobody reads already.
      const headOf = async (id: DeviceId) => {
        reading ??= readHeads(missing);
        return (await reading).get(id);
      };
      const read = await Promise.all(
        step.map((id) => heads.peek(id) ?? heads.get(id, () => headOf(id))),
      );
      for (const [at, id] of step.entries()) {
        const head = read[at];
        if (head === undefined || reaches(reach, head)) found.set(id, head);
      }
      if (pace.isOver()) await pace.rest();
    }
    return found;
  }

  return {
    async may(actor: Actor, notification: Notification): Promise<boolean> {
      if (isInCharge(actor, notification)) return true;
      const { condition } = notification;
      return isOpen(notification, await unhidden(actor, condition.devices, ownPace()));
    },
    /** All of them, or those of one owner, in order of creation. Throws rate_limited. */
    async rulesOf(actor: Actor, owner?: string): Promise<readonly Rule[]> {
      const asked = owner === undefined ? undefined : [...index.rulesBy(owner)];
      if (asked?.every((rule) => isInCharge(actor, rule.notification))) return index.inOrder(asked);
      if (actor.kind === 'admin' && actor.key === undefined) return index.all();
      const isPerson = actor.kind !== 'guest' && actor.key === undefined;
      const rules = new Set(asked === undefined && isPerson ? index.rulesBy(actor.username) : []);
      const judged = new Set<Rule>(rules);
      // Of all that is named in the installation: work that the actor pays for.
      await longWork.run(actor, async (pace) => {
        const named = asked === undefined ? index.namedDevices() : await namedBy(asked, pace);
        const seen = await unhidden(actor, named, pace);
        for (const rule of asked ?? [...seen.keys()].flatMap((id) => index.rulesNaming(id))) {
          if (judged.has(rule)) continue;
          judged.add(rule);
          if (isOpen(rule.notification, seen)) rules.add(rule);
          if (pace.isOver()) await pace.rest();
        }
      });
      return index.inOrder(rules);
    },
  };
}
export type Readable = ReturnType<typeof createReadable>;

async function namedBy(rules: readonly Rule[], pace: Pace): Promise<readonly DeviceId[]> {
  const named = new Set<DeviceId>();
  for (const { notification } of rules) {
    for (const id of notification.condition.devices) named.add(id);
    if (pace.isOver()) await pace.rest();
  }
  return [...named];
}

/** undefined: it is gone. */
type Unhidden = ReadonlyMap<DeviceId, DeviceHead | undefined>;
const noIds: ReadonlySet<string> = new Set();

/**
 * Whether a condition may be read by who sees these devices: all that it names, and one at least.
 * Without devices it watches every one of its owner: no other account may view them all.
 */
function isOpen(notification: Notification, seen: Unhidden): boolean {
  const { devices } = notification.condition;
  if (!devices.every((id) => seen.has(id))) return false;
  return devices.some((id) => {
    const head = seen.get(id);
    return head !== undefined && !isAnother(notification, head);
  });
}
