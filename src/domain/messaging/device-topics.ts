import type { Access } from '../access/access.ts';
import type { Actor } from '../actor.ts';
import type { DeviceStore } from '../devices/device-store.ts';
import { deviceResource } from '../devices/devices.ts';
import type { GatewayStore } from '../gateways/gateway-store.ts';
import { gatewayResource } from '../gateways/gateways.ts';
import type { DeviceId, GatewayId } from '../ids.ts';
import type { TopicOwner } from './topic-owner.ts';

/** Whether the actor may talk with others below a device or gateway: who may update it may. */
export type MayUseDeviceTopics = (actor: Actor, place: TopicOwner) => Promise<boolean>;

/** Topics that carry no values pass between clients that may update the thing [contract 8]. */
export function createMayUseDeviceTopics(options: {
  readonly devices: DeviceStore;
  readonly gateways: GatewayStore;
  readonly access: Access;
}): MayUseDeviceTopics {
  const { devices, gateways, access } = options;
  return async (actor, { kind, id }) => {
    if (kind === 'gateway') {
      const gateway = await gateways.find(id as GatewayId);
      if (gateway === undefined) return false;
      return access.allows(actor, 'gateways:update', gatewayResource(gateway));
    }
    // An id that no parse function would let through is found nowhere.
    const device = await devices.find(id as DeviceId);
    if (device === undefined) return false;
    return access.allows(actor, 'devices:update', deviceResource(device));
  };
}
