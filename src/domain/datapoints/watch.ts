import type { Access } from '../access/access.ts';
import type { Actor } from '../actor.ts';
import { type DeviceDirectory, deviceResource } from '../devices/devices.ts';
import type { DeviceId } from '../ids.ts';
import type { Feed, FeedListener } from './feed.ts';

/**
 * The one read path for live values: what became durable, and who may see it at that moment. A
 * server asks `mayView` for every delivery, so that a change of owner, visibility or grants is
 * effective on open subscriptions at once [contract 4, 8].
 */
export interface Watch {
  /** Calls back with everything that became durable, from now on; the answer ends that. */
  open(listener: FeedListener): () => void;
  /**
   * Whether the actor may see the data of the device now; no actor sees what does not exist. It is
   * answered at once, from what is at hand, or later; rejects when the store cannot answer.
   */
  mayView(actor: Actor, deviceId: DeviceId): boolean | Promise<boolean>;
}

export function createWatch(options: {
  readonly feed: Feed;
  readonly devices: Pick<DeviceDirectory, 'peek' | 'find'>;
  readonly access: Access;
}): Watch {
  const { feed, devices, access } = options;
  const scope = 'devices-data:view';

  async function ask(actor: Actor, deviceId: DeviceId): Promise<boolean> {
    const device = await devices.find(deviceId);
    return device !== undefined && access.allows(actor, scope, deviceResource(device));
  }

  return {
    open: (listener) => feed.subscribe(listener),
    mayView(actor, deviceId) {
      const device = devices.peek(deviceId);
      const verdict = device && access.tryAllow(actor, scope, deviceResource(device));
      return verdict === 'yes' || (verdict === 'no' ? false : ask(actor, deviceId));
    },
  };
}
