import type { SensorRef } from '../domain/datapoints/datapoint.ts';
import { DomainError } from '../domain/errors.ts';
import {
  type ActuatorId,
  type DeviceId,
  parseActuatorId,
  parseDeviceId,
  parseSensorId,
} from '../domain/ids.ts';
import { ownerOfTopic, type TopicOwner } from '../domain/messaging/device-topics.ts';
import { createLruCache } from '../lib/cache.ts';
import { mqttLimits } from './limits.ts';

/** The meaning of a topic to the service [contract 8]. */
export type Target =
  | { readonly kind: 'datapoints'; readonly sensor: SensorRef }
  | { readonly kind: 'actuator'; readonly deviceId: DeviceId; readonly actuatorId: ActuatorId }
  /** Fields as clients of ThingSpeak publish them; of one field its value alone. */
  | { readonly kind: 'channel'; readonly channelId: string; readonly field?: string }
  /** Below a device or gateway, for those who may update it. */
  | { readonly kind: 'device_topic'; readonly owner: TopicOwner }
  /** Metrics of the service, for admins. */
  | { readonly kind: 'system' }
  | { readonly kind: 'nothing' };

export const systemPrefix = '$SYS/';

export const valueTopic = ({ deviceId, sensorId }: SensorRef): string =>
  `devices/${deviceId}/sensors/${sensorId}/value`;

export const valuesTopic = ({ deviceId, sensorId }: SensorRef): string =>
  `devices/${deviceId}/sensors/${sensorId}/values`;

export const actuatorTopic = (deviceId: DeviceId, actuatorId: ActuatorId): string =>
  `devices/${deviceId}/actuators/${actuatorId}/value`;

/** Reads topics, and remembers those that come again and again. */
export function createTopicReader(): (topic: string) => Target {
  const known = createLruCache<string, Target>(mqttLimits.topicsRememberedMax);
  return (topic) => {
    const remembered = known.get(topic);
    if (remembered !== undefined) return remembered;
    const target = readTopic(topic);
    known.set(topic, target);
    return target;
  };
}

const nothing: Target = { kind: 'nothing' };
const partPattern = /^devices\/([^/]+)\/(sensors|actuators)\/([^/]+)\/(values?)$/;
/** Some clients write their key behind it. */
const channelPattern = /^channels\/([^/]+)\/publish(?:\/fields\/(field[1-8]))?(?:\/kpk_[^/]+)?$/;

function readTopic(topic: string): Target {
  if (topic.startsWith(systemPrefix)) return { kind: 'system' };
  const [, channelId, field] = channelPattern.exec(topic) ?? [];
  if (channelId !== undefined) {
    return { kind: 'channel', channelId, ...(field !== undefined && { field }) };
  }
  const [, device, kind, part, word] = partPattern.exec(topic) ?? [];
  try {
    if (kind === 'sensors') {
      const sensor = { deviceId: parseDeviceId(device), sensorId: parseSensorId(part) };
      return { kind: 'datapoints', sensor };
    }
    if (kind === 'actuators' && word === 'value') {
      return {
        kind: 'actuator',
        deviceId: parseDeviceId(device),
        actuatorId: parseActuatorId(part),
      };
    }
  } catch (error) {
    // Ids that nothing can have.
    if (error instanceof DomainError) return nothing;
    throw error;
  }
  const owner = ownerOfTopic(topic);
  return owner === undefined ? nothing : { kind: 'device_topic', owner };
}
