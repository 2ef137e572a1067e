import type { DevicePart } from '../devices/device.ts';
import type { ActuatorId, DeviceId, SensorId } from '../ids.ts';

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
