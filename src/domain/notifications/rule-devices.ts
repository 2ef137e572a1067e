import { yieldToEventLoop } from '../../lib/event-loop.ts';
import { type Device, type DeviceStore, sensorOf } from '../devices/device.ts';
import { type DeviceId, sameUsername, type Username } from '../ids.ts';
import { limits } from '../limits.ts';
import type { Rule } from './rule.ts';

/** Reads of devices that rules need. */
export type WatchedDevices = Pick<DeviceStore, 'find' | 'candidates' | 'readSome'>;

/** Devices, with all that they have, that are in memory at once: other work runs between. */
const devicesPerStep = 10;

/** Finds which devices a rule watches. */
export function createRuleDevices(devices: WatchedDevices) {
  /** Named devices, of any owner. */
  async function* devicesNamed(ids: readonly DeviceId[]): AsyncGenerator<readonly Device[]> {
    for (let at = 0; at < ids.length; at += devicesPerStep) {
      const found: Device[] = [];
      for (const id of ids.slice(at, at + devicesPerStep)) {
        const device = await devices.find(id);
        if (device !== undefined) found.push(device);
      }
      yield found;
      await yieldToEventLoop();
    }
  }

  /** All devices of an owner, in order of creation; those of other owners cost nothing. */
  async function* devicesOwnedBy(owner: Username): AsyncGenerator<readonly Device[]> {
    const equals = new Map([['owner', owner]]);
    const search = { visibleTo: { who: 'everything' }, equals } as const;
    let after: number | undefined;
    do {
      const page = await devices.candidates(after === undefined ? search : { ...search, after });
      let { ids } = page;
      while (ids.length > 0) {
        const some = await devices.readSome(ids);
        ids = ids.slice(some.taken);
        yield some.devices.filter((device) => sameUsername(device.owner, owner));
        await yieldToEventLoop();
      }
      after = page.next;
    } while (after !== undefined);
  }

  /** The devices of a rule that exist, a few megabytes at a time. */
  async function* devicesOf({ notification, triggers }: Rule): AsyncGenerator<readonly Device[]> {
    const { condition, owner } = notification;
    if (condition.devices.length > 0) {
      yield* devicesNamed(condition.devices);
      return;
    }
    let left = limits.evaluatedDevicesMax;
    for await (const owned of devicesOwnedBy(owner)) {
      const watched = owned.filter(
        (device) =>
          device.isPending !== true &&
          triggers.some((sensorId) => sensorOf(device, sensorId) !== undefined),
      );
      yield watched.slice(0, left);
      left -= watched.length;
      if (left <= 0) return;
    }
  }

  /** How many silences it would wait for, with the sensors that are there now. */
  async function countSilences(rule: Rule): Promise<number> {
    const { silences } = rule.expression;
    let count = 0;
    if (silences.length === 0) return count;
    for await (const some of devicesOf(rule)) {
      for (const device of some) {
        count += silences.filter(({ sensorId }) => sensorOf(device, sensorId)).length;
      }
    }
    return count;
  }

  return { devicesOf, countSilences };
}
