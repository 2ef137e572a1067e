import type { Access, Verdict } from '../access/policy.ts';
import type { Actor } from '../actor.ts';
import type { DevicePart } from '../devices/device.ts';
import { type DeviceDirectory, deviceResource, noDevice } from '../devices/devices.ts';
import { type GatewayStore, gatewayResource } from '../gateways/gateways.ts';
import type { ActuatorId, DeviceId, GatewayId, SensorId } from '../ids.ts';

/** Topics that carry no values pass between clients that may update the thing [contract 8]. */
export function createDeviceTopics(options: {
  readonly devices: Pick<DeviceDirectory, 'peek' | 'find'>;
  readonly gateways: GatewayStore;
  readonly access: Access;
}) {
  const { devices, gateways, access } = options;
  const scope = 'devices:update';
  return {
    async may(actor: Actor, { kind, id }: TopicOwner): Promise<boolean> {
      if (kind === 'gateway') {
        const gateway = await gateways.find(id as GatewayId);
        if (gateway === undefined) return false;
        return access.allows(actor, 'gateways:update', gatewayResource(gateway));
      }
      // An id that no parse function would let through is found nowhere.
      const device = await devices.find(id as DeviceId);
      if (device === undefined) return false;
      return access.allows(actor, scope, deviceResource(device));
    },
    /**
     * Throws forbidden for an actor who may not clear what is retained of the device's values: that
     * takes the right to push to it, but not because everybody may push to a public device.
     */
    async requireClearing(actor: Actor, deviceId: DeviceId): Promise<void> {
      const device = await devices.find(deviceId);
      if (device === undefined) throw noDevice(deviceId);
      const closed = { ...deviceResource(device), visibility: 'private' } as const;
      await access.require(actor, 'devices-data:create', closed);
    },
    /** The fast path of deliveries: answers at once, from what is at hand. */
    tryMay(actor: Actor, { kind, id }: TopicOwner): Verdict {
      const device = kind === 'device' ? devices.peek(id as DeviceId) : undefined;
      if (device === undefined) return 'unknown';
      return access.tryAllow(actor, scope, deviceResource(device));
    },
  };
}

/** Whether an actor may exchange messages below a device or gateway: who may update it may. */
export type DeviceTopics = ReturnType<typeof createDeviceTopics>;

/** Owner of a topic: the topic goes with it, and its rights are asked. */
export interface TopicOwner {
  readonly kind: 'device' | 'gateway';
  readonly id: string;
}

const pattern = /^(device|gateway)s\/([^/]+)\//;

/** The device or gateway below which a topic is; undefined where there can be none. */
export function ownerOfTopic(topic: string): TopicOwner | undefined {
  const [, kind, id] = pattern.exec(topic) ?? [];
  if (id === undefined) return undefined;
  return { kind: kind === 'gateway' ? 'gateway' : 'device', id };
}

const partPattern = /^devices\/([^/]+)\/(?:(sensor|actuator)s\/([^/]+)\/)?/;

/** The device, and the sensor or actuator of it, that a topic is about; undefined: about none. */
export function partOf(topic: string): DevicePart | undefined {
  const [, device, kind, id] = partPattern.exec(topic) ?? [];
  if (device === undefined) return undefined;
  // Ids that no parse function would let through are found nowhere.
  const deviceId = device as DeviceId;
  if (kind === 'sensor') return { deviceId, sensorId: id as SensorId };
  return kind === 'actuator' ? { deviceId, actuatorId: id as ActuatorId } : { deviceId };
}

/** Prefix of the topics of a device or gateway. */
export const topicsOf = ({ kind, id }: TopicOwner): string => `${kind}s/${id}/`;

/** Prefix of the topics of a sensor or actuator. */
export const topicsOfPart = (deviceId: string, kind: 'sensor' | 'actuator', id: string): string =>
  `devices/${deviceId}/${kind}s/${id}/`;
