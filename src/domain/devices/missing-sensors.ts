import type { Access } from '../access/policy.ts';
import type { Actor } from '../actor.ts';
import { DomainError, invalid, notFound } from '../errors.ts';
import type { DeviceId, SensorId } from '../ids.ts';
import { limits } from '../limits.ts';
import type { Device, DeviceStore } from './device.ts';
import { type Devices, deviceResource } from './devices.ts';

/** Sensors that are not there and were not made, with the reason. */
export type Unmade = ReadonlyMap<SensorId, DomainError>;

/** Makes what a push needs, for protocols that never announce their sensors; for one request. */
export interface SensorMaker {
  /**
   * Makes the sensors that the device lacks, if the actor may push to it and update it. Answers
   * those that are still missing; what the push itself will be refused for is not among them.
   */
  makeOn(deviceId: DeviceId, sensorIds: ReadonlySet<SensorId>): Promise<Unmade>;
}

export interface MakerOptions {
  /** Whether devices are made as well, for those who have an account. */
  readonly makesDevices: boolean;
  /** Sensors made for this request. */
  readonly sensorsMax: number;
}

/** Opens a maker for one request. */
export type MissingSensors = (actor: Actor, options: MakerOptions) => SensorMaker;
const nothing: Unmade = new Map();

export function createMissingSensors(parts: {
  readonly store: DeviceStore;
  readonly devices: Devices;
  readonly access: Access;
}): MissingSensors {
  const { store, devices, access } = parts;

  return (actor, { makesDevices, sensorsMax }) => {
    let room = sensorsMax;

    /** A guest makes none: a word that was mistyped would be a device without an owner for ever. */
    async function makeDevice(id: DeviceId, sensorIds: readonly SensorId[]): Promise<Unmade> {
      if (!makesDevices || actor.kind === 'guest') return nothing;
      const made = sensorIds.slice(0, Math.min(room, limits.sensorsPerDeviceMax));
      if (made.length === 0) return unmade(sensorIds, noRoom(sensorsMax));
      try {
        const sensors = made.map((sensorId) => ({ id: sensorId }));
        // No account chose to show it.
        await devices.create(actor, { id, visibility: 'private', sensors, actuators: [] });
      } catch (reason) {
        if (!(reason instanceof DomainError)) throw reason;
        if (reason.code !== 'conflict') return unmade(sensorIds, refusalOf(reason));
        // Made by another request in between: then its sensors are checked.
        const device = await store.find(id);
        return device === undefined ? nothing : addSensors(device, sensorIds);
      }
      room -= made.length;
      return unmade(sensorIds.slice(made.length), noRoom(sensorsMax));
    }

    async function addSensors(device: Device, sensorIds: Iterable<SensorId>): Promise<Unmade> {
      const known = new Set(device.sensors.map(({ id }) => id));
      const missing = [...sensorIds].filter((id) => !known.has(id));
      const resource = deviceResource(device);
      // An actor who may not push is refused by the push, and learns nothing about the sensors.
      if (missing.length === 0) return nothing;
      if (!(await access.allows(actor, 'devices-data:create', resource))) return nothing;
      const mayMake = await access.allows(actor, 'devices:update', resource);
      const refused = new Map<SensorId, DomainError>();
      for (const id of missing) {
        const refusal = mayMake ? await addSensor(device.id, id) : notMade(device.id, id);
        if (refusal !== undefined) refused.set(id, refusal);
      }
      return refused;
    }

    async function addSensor(deviceId: DeviceId, id: SensorId): Promise<DomainError | undefined> {
      if (room === 0) return noRoom(sensorsMax);
      try {
        await devices.putSensor(actor, deviceId, { id });
        room -= 1;
        return undefined;
      } catch (reason) {
        if (reason instanceof DomainError) return refusalOf(reason);
        throw reason;
      }
    }

    return {
      async makeOn(deviceId, sensorIds) {
        const device = await store.find(deviceId);
        if (device === undefined) return makeDevice(deviceId, [...sensorIds]);
        return addSensors(device, sensorIds);
      },
    };
  };
}

/** Refusal of one sensor; a store that is down concerns the request as a whole. */
function refusalOf(reason: DomainError): DomainError {
  if (reason.code === 'unavailable') throw reason;
  return reason;
}

function unmade(sensorIds: readonly SensorId[], reason: DomainError): Unmade {
  return new Map(sensorIds.map((id) => [id, reason]));
}

const notMade = (deviceId: DeviceId, id: SensorId) =>
  notFound(
    `device ${deviceId} has no sensor with id ${id}, and making it needs the right devices:update`,
  );

const noRoom = (sensorsMax: number) =>
  invalid(`one request may make ${sensorsMax} sensors: send this one again`);
