import type { Clock, Instant } from '../../../lib/clock.ts';
import type { Actor } from '../../actor.ts';
import { type DeviceStore, sensorOf } from '../../devices/device.ts';
import { deviceResource, noDevice, noSensor, requireDevice } from '../../devices/devices.ts';
import { invalid, notFound } from '../../errors.ts';
import type { DeviceId, Username } from '../../ids.ts';
import { requirePerson } from '../../users/account-access.ts';
import type { SensorRef } from '../datapoint.ts';
import type { DatapointStore } from '../datapoint-store.ts';
import type { ReadParts } from '../history.ts';
import {
  dayMs,
  limitsOf,
  type RetainedSensor,
  type Retention,
  type RetentionScope,
  type RetentionSource,
  type RetentionStore,
  retentionLimits,
} from './retention.ts';

/** Place whose retention is asked for: a sensor, a device, or the own account. */
export type RetentionPlace =
  | Exclude<RetentionScope, { readonly kind: 'user' }>
  | { readonly kind: 'me' };

/** The retention that holds somewhere. */
export interface RetentionState {
  readonly retention: Retention;
  readonly source: RetentionSource;
  /** Data that goes next of the sensors it holds for; without `before` nothing ever does. */
  readonly next: { readonly datapoints: number; readonly before?: Instant };
}

/** How long datapoints are kept, for those who may change the device, or for oneself. */
export type Retentions = ReturnType<typeof createRetentions>;

export function createRetentions(
  options: Pick<ReadParts, 'devices' | 'access' | 'longWork'> & {
    readonly store: RetentionStore;
    readonly pushedDatapoints: Pick<DatapointStore, 'count'>;
    readonly clock: Clock;
    /** Retention that holds where nothing is set. */
    readonly ofService: Retention;
    /** Called after a retention was set or taken away. */
    readonly onSet: () => void;
  },
) {
  const { store, devices, access, clock, longWork, ofService } = options;

  async function open(actor: Actor, place: RetentionPlace): Promise<OpenPlace> {
    if (place.kind === 'me') {
      const { username } = requirePerson(actor);
      return {
        scope: { kind: 'user', username },
        isIn: () => true,
        selection: { owner: username },
      };
    }
    const device = await requireDevice(devices, place.deviceId);
    await access.require(actor, 'devices:update', deviceResource(device));
    const { deviceId } = place;
    if (place.kind === 'device') return { scope: place, isIn: () => true, selection: { deviceId } };
    const { sensorId } = place;
    if (sensorOf(device, sensorId) === undefined) throw noSensor(deviceId, sensorId);
    return { scope: place, isIn: (one) => one.sensorId === sensorId, selection: { deviceId } };
  }

  /** The nearest that is set at a place or around it. */
  async function nearest(scope: RetentionScope): Promise<Omit<RetentionState, 'next'>> {
    for (const around of await scopesAround(devices, scope)) {
      const retention = await store.find(around);
      if (retention !== undefined) return { retention, source: around.kind };
    }
    return { retention: ofService, source: 'service' };
  }

  /** How many datapoints are older, of the sensors for which nothing nearer is set. */
  async function countBefore(actor: Actor, place: OpenPlace, before: Instant): Promise<number> {
    return longWork.run(actor, async (pace) => {
      let [count, after] = [0, -1];
      for (;;) {
        const page = { ...place.selection, after, max: retentionLimits.retainedSensorsPerPage };
        const sensors = await store.sensors(page);
        for (const sensor of sensors) {
          after = sensor.number;
          if (pace.isOver()) await pace.rest();
          if (!place.isIn(sensor) || isNearer(sensor, place.scope)) continue;
          count += await options.pushedDatapoints.count(sensor, { to: before - 1 });
        }
        if (sensors.length < page.max) return count;
      }
    });
  }

  return {
    async find(actor: Actor, place: RetentionPlace): Promise<RetentionState> {
      const opened = await open(actor, place);
      const state = await nearest(opened.scope);
      const { rawBefore } = limitsOf(state.retention, clock.now());
      if (rawBefore === undefined) return { ...state, next: { datapoints: 0 } };
      const due = await countBefore(actor, opened, rawBefore);
      if (due > 0) return { ...state, next: { datapoints: due, before: rawBefore } };
      const before = rawBefore + dayMs;
      return { ...state, next: { datapoints: await countBefore(actor, opened, before), before } };
    },
    /** Undefined: what is set further away holds again. Nothing is deleted before the answer. */
    async set(actor: Actor, place: RetentionPlace, retention: Retention | undefined) {
      const { scope } = await open(actor, place);
      if (retention !== undefined) requireSensible(retention);
      if ((await store.put(scope, retention)) === 'missing') throw missing(scope);
      options.onSet();
    },
  };
}

/** A place that the actor may view, and its sensors. */
interface OpenPlace {
  readonly scope: RetentionScope;
  readonly isIn: (sensor: SensorRef) => boolean;
  readonly selection: { readonly owner?: Username; readonly deviceId?: DeviceId };
}

/** Whether what is set for the sensor is nearer to it than this scope. */
function isNearer({ nearest }: RetainedSensor, scope: RetentionScope): boolean {
  const distance = { sensor: 0, device: 1, user: 2 } as const;
  return nearest !== undefined && distance[nearest.source] < distance[scope.kind];
}

async function scopesAround(
  devices: DeviceStore,
  scope: RetentionScope,
): Promise<readonly RetentionScope[]> {
  if (scope.kind === 'user') return [scope];
  const { deviceId } = scope;
  const device = await requireDevice(devices, deviceId);
  const around = { kind: 'user', username: device.owner } as const;
  return scope.kind === 'device' ? [scope, around] : [scope, { kind: 'device', deviceId }, around];
}

function requireSensible({ rawDays, hourlyDays }: Retention): void {
  if (rawDays === undefined || hourlyDays === undefined || hourlyDays >= rawDays) return;
  throw invalid(
    `hourly_days (${hourlyDays}) must not be less than raw_days (${rawDays}): hours are kept for ` +
      'what has no raw values any more',
  );
}

function missing(scope: RetentionScope) {
  if (scope.kind === 'user') return notFound('your account ended meanwhile');
  return scope.kind === 'device'
    ? noDevice(scope.deviceId)
    : noSensor(scope.deviceId, scope.sensorId);
}
