import type { Instant } from '../../lib/clock.ts';
import type { VisibleTo } from '../access/viewer.ts';
import type { ActuatorId, DeviceId, SensorId, Username } from '../ids.ts';
import type { Actuator, ActuatorChanges } from './actuator.ts';
import type { Device, DeviceChanges } from './device.ts';
import type { Filter } from './query.ts';
import type { Sensor, SensorChanges } from './sensor.ts';

export type { VisibleTo };

export interface DeviceListing {
  readonly devices: readonly Device[];
  /** All that match, whatever the page. */
  readonly total: number;
}

/** Where devices are kept, with their sensors and actuators. Lists are in order of creation. */
export interface DeviceStore {
  insert(device: Device): Promise<'inserted' | 'duplicate'>;
  /** Answers at once when the device is at hand: every push asks. */
  find(id: DeviceId): Device | undefined | Promise<Device | undefined>;
  list(page: {
    visibleTo: VisibleTo;
    filter?: Filter;
    /** Whether a filter may ask for the last values of this device; if not, it has none. */
    maySeeValues: (device: Device) => boolean;
    limit: number;
    offset: number;
  }): Promise<DeviceListing>;
  countOwnedBy(owner: Username): Promise<number>;
  update(id: DeviceId, changes: DeviceChanges, at: Instant): Promise<'updated' | 'missing'>;
  /** Removes the device with its sensors, actuators, datapoints and grants, in one step. */
  remove(id: DeviceId): Promise<'removed' | 'missing'>;

  /** Adds the sensor, or replaces its description and keeps its datapoints and place. */
  putSensor(id: DeviceId, sensor: Sensor, at: Instant): Promise<'put' | 'missing' | 'too_many'>;
  updateSensor(
    id: DeviceId,
    sensorId: SensorId,
    changes: SensorChanges,
    at: Instant,
  ): Promise<'updated' | 'missing'>;
  /** Removes the sensor with its datapoints, in one step. */
  removeSensor(id: DeviceId, sensorId: SensorId, at: Instant): Promise<'removed' | 'missing'>;

  /** Adds the actuator, or replaces it in its place; one put without a value keeps what it had. */
  putActuator(
    id: DeviceId,
    actuator: Actuator,
    at: Instant,
  ): Promise<'put' | 'missing' | 'too_many'>;
  updateActuator(
    id: DeviceId,
    actuatorId: ActuatorId,
    changes: ActuatorChanges,
    at: Instant,
  ): Promise<'updated' | 'missing'>;
  removeActuator(id: DeviceId, actuatorId: ActuatorId, at: Instant): Promise<'removed' | 'missing'>;
}
