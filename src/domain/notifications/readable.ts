import { ownPace, type Pace } from '../../lib/fair-turns.ts';
import type { Access } from '../access/access.ts';
import type { GrantStore } from '../access/grant-store.ts';
import { createViewer, within } from '../access/viewer.ts';
import type { Actor } from '../actor.ts';
import type { LongWork } from '../budgets/long-work.ts';
import type { DeviceStore } from '../devices/device-store.ts';
import { type DeviceId, sameUsername } from '../ids.ts';
import type { Notification } from './notification.ts';
import type { Rule } from './rule.ts';
import type { SensorIndex } from './sensor-index.ts';

/** Which notifications an actor may read: one's own, and those of which one sees all devices. */
export interface Readable {
  may(actor: Actor, notification: Notification): Promise<boolean>;
  /** All of them, in order of creation. Throws rate_limited. */
  rulesOf(actor: Actor): Promise<readonly Rule[]>;
}

export interface ReadableParts {
  readonly index: SensorIndex;
  readonly devices: Pick<DeviceStore, 'list' | 'existing'>;
  readonly grants: Pick<GrantStore, 'listReaching'>;
  readonly access: Pick<Access, 'settings'>;
  readonly longWork: Pick<LongWork, 'run'>;
}

/** Devices that the store is asked about at once. */
const devicesPerStep = 500;

export function createReadable(parts: ReadableParts): Readable {
  const { index, devices, grants, access, longWork } = parts;

  /** Those of the devices that hinder nobody from reading: seen by the actor, or not there. */
  async function unhidden(
    actor: Actor,
    ids: readonly DeviceId[],
    pace: Pace,
  ): Promise<ReadonlySet<DeviceId>> {
    const found = new Set<DeviceId>();
    if (ids.length === 0) return found;
    const { settings } = access;
    const { visibleTo } = await createViewer({ actor, kind: 'device', grants, settings });
    for (let from = 0; from < ids.length; from += devicesPerStep) {
      const step = ids.slice(from, from + devicesPerStep);
      const page = { visibleTo: within(visibleTo, step), limit: step.length, offset: 0 };
      for (const { id } of (await devices.list(page)).devices) found.add(id);
      const others = step.filter((id) => !found.has(id));
      const exist = await devices.existing(others.map((deviceId) => ({ deviceId })));
      for (const [place, id] of others.entries()) if (exist[place] === false) found.add(id);
      if (pace.isOver()) await pace.rest();
    }
    return found;
  }

  return {
    async may(actor, notification) {
      if (isInCharge(actor, notification)) return true;
      const ids = notification.condition.devices;
      // Without devices it watches every one of its owner: nobody else may view them all.
      if (ids.length === 0) return false;
      return (await unhidden(actor, ids, ownPace())).size === new Set(ids).size;
    },
    async rulesOf(actor) {
      if (actor.kind === 'admin' && actor.key === undefined) return index.all();
      const isPerson = actor.kind !== 'guest' && actor.key === undefined;
      const rules = new Set<Rule>(isPerson ? index.rulesBy(actor.username) : []);
      // Of all that is named in the installation: work that whoever asks pays for.
      const named = index.namedDevices();
      const seen = await longWork.run(actor, (pace) => unhidden(actor, named, pace));
      for (const deviceId of seen) {
        for (const rule of index.rulesNaming(deviceId)) {
          if (rule.notification.condition.devices.every((id) => seen.has(id))) rules.add(rule);
        }
      }
      return index.inOrder(rules);
    },
  };
}

/** Its owner or an admin, in person. */
export function isInCharge(actor: Actor, { owner }: Notification): boolean {
  if (actor.kind === 'guest' || actor.key !== undefined) return false;
  return actor.kind === 'admin' || sameUsername(actor.username, owner);
}
