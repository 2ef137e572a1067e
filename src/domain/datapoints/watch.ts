import type { Access } from '../access/access.ts';
import type { Actor } from '../actor.ts';
import type { DeviceStore } from '../devices/device-store.ts';
import { deviceResource } from '../devices/devices.ts';
import type { DeviceId } from '../ids.ts';
import type { Feed, FeedListener } from './feed.ts';

/**
 * The one road out for live values: what became durable, and who may see it at that moment. A door
 * asks `mayView` for every delivery, so that a change of owner, visibility or grants is effective
 * on open subscriptions at once [contract 4, 8].
 */
export interface Watch {
  /** Calls back with everything that became durable, from now on; the answer ends that. */
  open(listener: FeedListener): () => void;
  /**
   * Whether the actor may see the data of the device now; what does not exist nobody sees. Answers
   * at once when the device and the grants are at hand.
   */
  mayView(actor: Actor, deviceId: DeviceId): boolean | Promise<boolean>;
}

export function createWatch(options: {
  readonly feed: Feed;
  readonly devices: DeviceStore;
  readonly access: Access;
}): Watch {
  const { feed, devices, access } = options;
  return {
    open: (listener) => feed.subscribe(listener),
    mayView(actor, deviceId) {
      const found = devices.find(deviceId);
      if (found instanceof Promise) {
        return found.then(
          (device) =>
            device !== undefined &&
            access.allows(actor, 'devices-data:view', deviceResource(device)),
        );
      }
      return (
        found !== undefined && access.allows(actor, 'devices-data:view', deviceResource(found))
      );
    },
  };
}
