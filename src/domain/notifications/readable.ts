import { ownPace, type Pace } from '../../lib/scheduling/fair-slices.ts';
import type { Access } from '../access/access.ts';
import type { GrantStore } from '../access/grant.ts';
import { createViewer, within } from '../access/viewer.ts';
import type { Actor } from '../actor.ts';
import type { LongWork } from '../budgets/long-work.ts';
import type { DeviceStore } from '../devices/device.ts';
import { type DeviceId, sameUsername } from '../ids.ts';
import { isAnother } from './named-devices.ts';
import type { Notification } from './notification.ts';
import type { Rule } from './rule.ts';
import type { SensorIndex } from './sensor-index.ts';

/** Devices that the store is asked about at once. */
const devicesPerStep = 500;

/** Which notifications an actor may read: one's own, and those of which one sees all devices. */
export function createReadable(parts: {
  readonly index: SensorIndex;
  readonly devices: Pick<DeviceStore, 'find' | 'list' | 'existing'>;
  readonly grants: Pick<GrantStore, 'listReaching'>;
  readonly access: Pick<Access, 'settings'>;
  readonly longWork: Pick<LongWork, 'run'>;
}) {
  const { index, devices, grants, access, longWork } = parts;

  /** Finds devices that hinder no reader; true: the actor sees it, false: it does not exist. */
  async function unhidden(actor: Actor, ids: readonly DeviceId[], pace: Pace): Promise<Unhidden> {
    const found = new Map<DeviceId, boolean>();
    if (ids.length === 0) return found;
    const { settings } = access;
    const { visibleTo } = await createViewer({ actor, kind: 'device', grants, settings });
    for (let from = 0; from < ids.length; from += devicesPerStep) {
      const step = ids.slice(from, from + devicesPerStep);
      const page = { visibleTo: within(visibleTo, step), limit: step.length, offset: 0 };
      for (const { id } of (await devices.list(page)).devices) found.set(id, true);
      const others = step.filter((id) => !found.has(id));
      const exist = await devices.existing(others.map((deviceId) => ({ deviceId })));
      for (const [place, id] of others.entries()) if (exist[place] === false) found.set(id, false);
      if (pace.isOver()) await pace.rest();
    }
    return found;
  }

  /**
   * Whether a condition may be read by who sees these devices: all that it names, and one at least.
   * Without devices it watches every one of its owner: no other account may view them all.
   */
  async function isOpen(notification: Notification, seen: Unhidden): Promise<boolean> {
    const { condition } = notification;
    if (!condition.devices.every((id) => seen.has(id))) return false;
    for (const id of condition.devices) {
      const device = seen.get(id) === true ? await devices.find(id) : undefined;
      if (device !== undefined && !isAnother(notification, device)) return true;
    }
    return false;
  }

  return {
    async may(actor: Actor, notification: Notification): Promise<boolean> {
      if (isInCharge(actor, notification)) return true;
      const { condition } = notification;
      return await isOpen(notification, await unhidden(actor, condition.devices, ownPace()));
    },
    /** All of them, in order of creation. Throws rate_limited. */
    async rulesOf(actor: Actor): Promise<readonly Rule[]> {
      if (actor.kind === 'admin' && actor.key === undefined) return index.all();
      const isPerson = actor.kind !== 'guest' && actor.key === undefined;
      const rules = new Set<Rule>(isPerson ? index.rulesBy(actor.username) : []);
      // Of all that is named in the installation: work that the actor pays for.
      const named = index.namedDevices();
      const judged = new Set<Rule>(rules);
      await longWork.run(actor, async (pace) => {
        const seen = await unhidden(actor, named, pace);
        for (const rule of [...seen.keys()].flatMap((id) => index.rulesNaming(id))) {
          if (judged.has(rule)) continue;
          judged.add(rule);
          if (await isOpen(rule.notification, seen)) rules.add(rule);
          if (pace.isOver()) await pace.rest();
        }
      });
      return index.inOrder(rules);
    },
  };
}
export type Readable = ReturnType<typeof createReadable>;

type Unhidden = ReadonlyMap<DeviceId, boolean>;

/** Whether the actor is its owner or an admin, in person. */
export function isInCharge(actor: Actor, { owner }: Notification): boolean {
  if (actor.kind === 'guest' || actor.key !== undefined) return false;
  return actor.kind === 'admin' || sameUsername(actor.username, owner);
}
