import type { Instant } from '../../lib/clock.ts';
import { isBigNumber, type JsonValue } from '../../lib/json.ts';
import { LongJson, writeJson } from '../../lib/long-json.ts';
import type { VisibleTo } from '../access/viewer.ts';
import { type Actor, isImport } from '../actor.ts';
import { DomainError, invalid } from '../errors.ts';
import type { ActuatorId, DeviceId, SensorId, UserId, Username } from '../ids.ts';
import { limits } from '../limits.ts';
import type { Listing, ListPart } from '../listing.ts';
import {
  type Actuator,
  type ActuatorChanges,
  type ActuatorStep,
  type TimedSetting,
  withoutSetting,
} from './actuator.ts';
import type { Calibration } from './calibration.ts';

/** Kinds of values: readings, the count of a meter, or what came since the value before. */
export const measuresWords = ['gauge', 'counter', 'amount'] as const;
export type Measures = (typeof measuresWords)[number];

/** A measured quantity of a device: exactly what its owner said about it. */
export interface Sensor {
  readonly id: SensorId;
  readonly name?: string;
  /** Kind of physical sensor used. */
  readonly kind?: string;
  /** The key the client last used for `kind`; the answer uses the same one [contract 3]. */
  readonly kindSpelling?: 'sensor_kind';
  readonly quantityKind?: string;
  readonly unit?: string;
  /** Absent: unknown; totals are those of a gauge, none [contract 15]. */
  readonly measures?: Measures;
  readonly calibration?: Calibration;
  readonly meta?: JsonValue;
}

/** A field set to undefined is removed. */
export type SensorChanges = {
  readonly [Field in Exclude<keyof Sensor, 'id'>]?: Sensor[Field] | undefined;
};

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
  /** The owner that it has once that account accepts it [contract 15]. */
  readonly offeredTo?: UserId;
  /** In order of creation. */
  readonly sensors: readonly Sensor[];
  /** In order of creation. */
  readonly actuators: readonly Actuator[];
  readonly createdAt: Instant;
  readonly modifiedAt: Instant;
}

type SetField = Exclude<keyof Device, 'id' | 'owner' | 'sensors' | 'actuators' | `${string}At`>;

/** Fields that a PUT may set; one set to undefined is removed. */
export type DeviceChanges = { readonly owner?: Username } & {
  readonly [Field in SetField]?: Device[Field] | undefined;
};

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

/** Fields that rights are asked about, and the date that distinguishes devices of one id. */
export type DeviceHead = Pick<Device, 'id' | 'owner' | 'visibility' | 'createdAt'>;
/** Which devices a page of a list has; `readSome` reads them. */
export type DeviceListing = Listing<'devices', DeviceHead>;

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
  /** `owner` narrows to those of this one, in any case of letters. */
  list(
    page: ListPart & { readonly visibleTo: VisibleTo; readonly owner?: string },
  ): Promise<DeviceListing>;
  /** The next devices that a search wants to evaluate, a bounded number of them. */
  candidates(search: {
    readonly visibleTo: VisibleTo;
    /** Texts of wanted devices: `owner`, `gateway_id`, `domain`; an engine may answer too many. */
    readonly equals: ReadonlyMap<string, string>;
    /** `next` of the answer before; absent: from the first one on. */
    readonly after?: number;
  }): Promise<{
    readonly devices: readonly DeviceHead[];
    /** Where the next answer begins; undefined: there are no more. */
    readonly next: number | undefined;
  }>;
  /** As many of these devices, in their order, as fit into memory beside what others read. */
  readSome(ids: readonly DeviceId[]): Promise<SomeDevices>;
  /** Whether each of these exists. */
  existing(parts: readonly DevicePart[]): Promise<readonly boolean[]>;
  countOwnedBy(owner: Username): Promise<number>;
  /** The same for each of these accounts. */
  countOwnedByEach(owners: readonly Username[]): Promise<readonly number[]>;
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

/**
 * Whether the value is too large to be taken [contract 14]: more bytes as JSON text than
 * `bytesMax`. An administrator who imports brings what was stored elsewhere, whatever its size.
 */
export function isTooLarge(actor: Actor, value: JsonValue, bytesMax: number): boolean {
  return !isJsonWithin(value, bytesMax) && !isImport(actor);
}

/** The refusal of such a value; `where` says which of several it is. */
export function valueTooLarge(bytesMax: number, where: string): DomainError {
  return new DomainError(
    'too_large',
    `the value${where} has more than ${bytesMax} bytes as JSON text: send less at once; an ` +
      'administrator may raise KIPIMO_VALUE_BYTES_MAX',
  );
}

/**
 * Whether the sensor or actuator with this id may become `part`: throws limit_reached when the
 * device would be too long to be read and written in one piece. What is small, and what an
 * administrator imports, is always taken.
 */
export function requireRoomOn(actor: Actor, device: Device, id: string, part: object): void {
  const problem = isImport(actor) ? undefined : tooMuchWith(device, id, part);
  if (problem !== undefined) throw problem;
}

/** The refusal of what a rule or a person makes of a part of the device; undefined: it fits. */
export function tooMuchWith(device: Device, id: string, part: object): DomainError | undefined {
  let bytes = bytesOf(part);
  if (bytes <= limits.devicePartBytesFree) return undefined;
  for (const known of [...device.sensors, ...device.actuators]) {
    if (known.id !== id) bytes += bytesOf(known);
    if (bytes > limits.devicePartsBytesMax) return tooMuchOn(device);
  }
  return undefined;
}

const tooMuchOn = ({ id }: Device): DomainError =>
  new DomainError(
    'limit_reached',
    `the sensors and actuators of device ${id} would have more than ` +
      `${limits.devicePartsBytesMax} bytes as JSON text: shorten their meta and values, or make ` +
      'several devices of it',
  );

/** The refusal of a value to set an actuator to, which is kept with its device; undefined: fits. */
export function settingTooLarge(value: JsonValue): DomainError | undefined {
  const bytes = Buffer.byteLength(JSON.stringify(value));
  if (bytes <= limits.actuatorValueBytesMax) return undefined;
  return new DomainError(
    'too_large',
    `the value must have at most ${limits.actuatorValueBytesMax} bytes as JSON, got ${bytes}`,
  );
}

const bytesOf = (part: object): number => Buffer.byteLength(JSON.stringify(part));
/** The longest text of a double, and of `true`, `false` and `null`. */
const plainBytesMax = 25;
/** A character as `\u0000`; in UTF-8 none takes more. */
const bytesPerCharacterMax = 6;

/**
 * Whether the JSON text of the value has at most `bytesMax` bytes in UTF-8. Most values are far
 * from it and are only estimated; those that may be too long are written to be sure.
 */
export function isJsonWithin(value: JsonValue, bytesMax: number): boolean {
  if (typeof value === 'number')
    return plainBytesMax <= bytesMax || isWrittenWithin(value, bytesMax);
  return upperBound(value, bytesMax) <= bytesMax || isWrittenWithin(value, bytesMax);
}

const isWrittenWithin = (value: JsonValue, bytesMax: number): boolean =>
  Buffer.byteLength(writeJson(value)) <= bytesMax;

/** An upper bound of the bytes of the text; counting stops above `enough`. */
function upperBound(value: JsonValue, enough: number): number {
  if (typeof value === 'string') return value.length * bytesPerCharacterMax + 2;
  if (typeof value !== 'object' || value === null) return plainBytesMax;
  if (isBigNumber(value)) return value.rawJSON.length;
  if (value instanceof LongJson) return value.text.length * bytesPerCharacterMax;
  let bytes = 2;
  if (Array.isArray(value)) {
    for (const item of value) {
      bytes += 1 + upperBound(item, enough - bytes);
      if (bytes > enough) return bytes;
    }
    return bytes;
  }
  for (const [key, item] of Object.entries(value)) {
    bytes += key.length * bytesPerCharacterMax + 4 + upperBound(item, enough - bytes);
    if (bytes > enough) return bytes;
  }
  return bytes;
}

/**
 * Sorts the points and refuses what does not define a line: fewer than two, or two alike. Two ends
 * stay as the client gave them: a sensor that reads less for more has its greater value first.
 */
export function createCalibration(calibration: Calibration): Calibration {
  const points = calibration.points.toSorted((a, b) => a.sensorValue - b.sensorValue);
  if (points.length < 2) throw invalid('calib.linear needs two points or more');
  if (points.length > limits.calibrationPointsMax) {
    throw invalid(`calib.linear may have ${limits.calibrationPointsMax} points`);
  }
  points.forEach((point, index) => {
    if (points[index + 1]?.sensorValue === point.sensorValue) {
      throw invalid(`calib.linear has two points with sensor_value ${point.sensorValue}`);
    }
  });
  return calibration.spelling === 'ends' ? calibration : { ...calibration, points };
}
