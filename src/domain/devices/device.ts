import type { Instant } from '../../lib/clock.ts';
import type { JsonValue } from '../../lib/json.ts';
import type { ActuatorId, DeviceId, SensorId, UserId, Username } from '../ids.ts';
import { type Actuator, withoutSetting } from './actuator.ts';
import type { Sensor } from './sensor.ts';

export type Visibility = 'public' | 'private';

export interface Location {
  /** Degrees, -90 to 90. */
  readonly latitude: number;
  /** Degrees, -180 to 180. */
  readonly longitude: number;
}

/** A thing with sensors. */
export interface Device {
  readonly id: DeviceId;
  readonly owner: Username;
  /** Absent counts as public [contract 4]. */
  readonly visibility?: Visibility;
  readonly gatewayId?: string;
  readonly name?: string;
  readonly domain?: string;
  readonly location?: Location;
  readonly meta?: JsonValue;
  readonly isDeployed?: boolean;
  /** An IANA name, for its days and hours; absent: the reader's. */
  readonly timezone?: string;
  /** Handed over by an earlier version, and not accepted: alerts without devices leave it out. */
  readonly isPending?: true;
  /** Whose it is to be once that account accepts it [contract 15]. */
  readonly offeredTo?: UserId;
  /** In order of creation. */
  readonly sensors: readonly Sensor[];
  /** In order of creation. */
  readonly actuators: readonly Actuator[];
  readonly createdAt: Instant;
  readonly modifiedAt: Instant;
}

/** Fields that a PUT may set; one set to undefined is removed. */
export interface DeviceChanges {
  readonly owner?: Username;
  readonly visibility?: Visibility | undefined;
  readonly gatewayId?: string | undefined;
  readonly name?: string | undefined;
  readonly domain?: string | undefined;
  readonly location?: Location | undefined;
  readonly meta?: JsonValue | undefined;
  readonly isDeployed?: boolean | undefined;
  readonly timezone?: string | undefined;
  readonly isPending?: true | undefined;
  readonly offeredTo?: UserId | undefined;
}

/** The sensor of a device, or undefined. */
export function sensorOf(device: Device, sensorId: SensorId): Sensor | undefined {
  for (const sensor of device.sensors) if (sensor.id === sensorId) return sensor;
  return undefined;
}

/** The actuator of a device, or undefined. */
export function actuatorOf(device: Device, actuatorId: ActuatorId): Actuator | undefined {
  return device.actuators.find((actuator) => actuator.id === actuatorId);
}

function withoutValue(actuator: Actuator): Actuator {
  const { value, ...others } = withoutSetting(actuator);
  return others;
}

/** The device for those who may not view its data: without what its actuators are set to. */
export function withoutActuatorValues(device: Device): Device {
  if (device.actuators.every((actuator) => actuator.value === undefined)) return device;
  return { ...device, actuators: device.actuators.map(withoutValue) };
}
