import type { Instant } from '../../lib/clock.ts';
import type { VisibleTo } from '../access/viewer.ts';
import type { ActuatorId, DeviceId, SensorId, Username } from '../ids.ts';
import type { Actuator, ActuatorChanges } from './actuator.ts';
import type { ActuatorStep, TimedSetting } from './actuator-step.ts';
import type { Device, DeviceChanges } from './device.ts';
import type { Sensor, SensorChanges } from './sensor.ts';

export type { VisibleTo };

/** Fields that rights are asked about, and the date that distinguishes devices of one id. */
export type DeviceHead = Pick<Device, 'id' | 'owner' | 'visibility' | 'createdAt'>;

/** Which devices a page of a list has; `readSome` reads them. */
export interface DeviceListing {
  readonly devices: readonly DeviceHead[];
  /** Number of all devices that match, whatever the page. */
  readonly total: number;
}

/** The devices that a search wants to evaluate. */
export interface CandidateSearch {
  readonly visibleTo: VisibleTo;
  /**
   * Texts that a device must have, by the names `id`, `owner`, `gateway_id` and `domain`: an engine
   * may answer too many devices, never too few.
   */
  readonly equals: ReadonlyMap<string, string>;
  /** `next` of the answer before; absent: from the first one on. */
  readonly after?: number;
}

/** The next devices that a search has to evaluate, a bounded number of them. */
export interface Candidates {
  readonly ids: readonly DeviceId[];
  /** Where the next answer begins; undefined: there are no more. */
  readonly next: number | undefined;
}

/** Some of the devices that were asked for. */
export interface SomeDevices {
  /** Devices that exist, in the order asked for. */
  readonly devices: readonly Device[];
  /** How many of the ids were checked: at least one. */
  readonly taken: number;
}

/** A device, or one of its sensors or actuators. */
export interface DevicePart {
  readonly deviceId: DeviceId;
  readonly sensorId?: SensorId;
  readonly actuatorId?: ActuatorId;
}

/** Where devices are kept, with their sensors and actuators. Lists are in order of creation. */
export interface DeviceStore {
  insert(device: Device): Promise<'inserted' | 'duplicate'>;
  find(id: DeviceId): Promise<Device | undefined>;
  list(page: {
    readonly visibleTo: VisibleTo;
    readonly limit: number;
    readonly offset: number;
  }): Promise<DeviceListing>;
  candidates(search: CandidateSearch): Promise<Candidates>;
  /** As many of these devices, in their order, as fit into memory beside what others read. */
  readSome(ids: readonly DeviceId[]): Promise<SomeDevices>;
  /** Whether each of these exists. */
  existing(parts: readonly DevicePart[]): Promise<readonly boolean[]>;
  countOwnedBy(owner: Username): Promise<number>;
  /** Bytes that a device, or one of its sensors, counts towards the quota of its owner. */
  storedBytes(id: DeviceId, sensorId?: SensorId): Promise<number>;
  /** The same for all devices of each owner. */
  storedByOwner(): Promise<ReadonlyMap<Username, number>>;
  /** Bytes that strangers pushed to the device, of its stored ones. */
  strangerBytes(id: DeviceId): Promise<number>;
  /** The same for all devices of each owner who has any. */
  strangersByOwner(): Promise<ReadonlyMap<Username, number>>;
  /** Counts what strangers pushed to devices; a negative number gives back. */
  addStrangerBytes(added: ReadonlyMap<DeviceId, number>): Promise<void>;
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
  /** Sets an actuator, confirms it or sets it back; answers it as it is afterwards. */
  stepActuator(
    id: DeviceId,
    actuatorId: ActuatorId,
    step: ActuatorStep,
  ): Promise<Actuator | 'missing' | 'unchanged'>;
  /** All actuators that are to be set back some day. */
  listTimedSettings(): Promise<readonly TimedSetting[]>;
  updateActuator(
    id: DeviceId,
    actuatorId: ActuatorId,
    changes: ActuatorChanges,
    at: Instant,
  ): Promise<'updated' | 'missing'>;
  removeActuator(id: DeviceId, actuatorId: ActuatorId, at: Instant): Promise<'removed' | 'missing'>;
}
