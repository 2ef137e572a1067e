import type { Access, Verdict } from '../access/policy.ts';
import type { Actor } from '../actor.ts';
import { type DeviceDirectory, deviceResource } from '../devices/devices.ts';
import type { DeviceId } from '../ids.ts';
import type { Feed, FeedListener } from './feed.ts';

/**
 * The one read path for live values: what became durable, and who may see it at that moment. A
 * server asks `mayView` for every delivery, so that a change of owner, visibility or grants is
 * effective on open subscriptions at once [contract 4, 8].
 */
export type Watch = ReturnType<typeof createWatch>;

export function createWatch(options: {
  readonly feed: Feed;
  readonly devices: Pick<DeviceDirectory, 'peek' | 'find'>;
  readonly access: Access;
}) {
  const { feed, devices, access } = options;
  return {
    /** Calls back with everything that became durable, from now on; the answer ends that. */
    open: (listener: FeedListener): (() => void) => feed.subscribe(listener),
    /** The fast path of deliveries: answers at once, from what is at hand. */
    tryView(actor: Actor, deviceId: DeviceId): Verdict {
      const device = devices.peek(deviceId);
      if (device === undefined) return 'unknown';
      return access.tryAllow(actor, 'devices-data:view', deviceResource(device));
    },
    /** Whether the actor may see the data of the device now; no actor sees what does not exist. */
    async mayView(actor: Actor, deviceId: DeviceId): Promise<boolean> {
      const device = await devices.find(deviceId);
      if (device === undefined) return false;
      return access.allows(actor, 'devices-data:view', deviceResource(device));
    },
  };
}
