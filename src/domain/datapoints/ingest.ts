import type { Clock, Instant } from '../../lib/clock.ts';
import type { JsonValue } from '../../lib/json.ts';
import { formatTimestamp } from '../../lib/timestamp.ts';
import type { Access } from '../access/access.ts';
import type { Actor } from '../actor.ts';
import { type Device, sensorOf } from '../devices/device.ts';
import type { DeviceStore } from '../devices/device-store.ts';
import { deviceResource, noDevice, noSensor } from '../devices/devices.ts';
import type { Envelope } from '../envelope.ts';
import { type DomainError, invalid } from '../errors.ts';
import type { DeviceId } from '../ids.ts';
import { limits } from '../limits.ts';
import type { Appender } from './appender.ts';
import type { Datapoint, SensorRef } from './datapoint.ts';

/** A datapoint as a client hands it over: not yet received. */
export interface NewDatapoint {
  readonly value: JsonValue;
  readonly timestamp?: Instant;
}

/**
 * The one road in: every door hands its datapoints over here. When it resolves they are synced to
 * disk, the sensor's last value shows them, and those who watch were told.
 */
export type Ingest = (
  actor: Actor,
  sensor: SensorRef,
  datapoints: readonly NewDatapoint[],
  envelope?: Envelope,
) => Promise<void>;

export interface IngestOptions {
  readonly devices: DeviceStore;
  readonly access: Access;
  readonly appender: Appender;
  readonly clock: Clock;
}

export function createIngest(options: IngestOptions): Ingest {
  const { appender, clock } = options;
  return async (actor, { deviceId, sensorId }, datapoints, envelope) => {
    const found = requirePushable(options, actor, deviceId);
    const device = found instanceof Promise ? await found : found;
    if (sensorOf(device, sensorId) === undefined) throw noSensor(deviceId, sensorId);
    if (datapoints.length === 0) return;
    const received = receiveAll(datapoints, clock.now());
    const push = { deviceId, sensorId, datapoints: received };
    const outcome = await appender.append(envelope === undefined ? push : { ...push, envelope });
    if (outcome.kind === 'missing') throw noSensor(deviceId, sensorId);
  };
}

/**
 * The device, for an actor who may push to it; throws not_found or forbidden. Answers at once when
 * the device is at hand and no grants have to be fetched, as for most pushes.
 */
export function requirePushable(
  { devices, access }: Pick<IngestOptions, 'devices' | 'access'>,
  actor: Actor,
  deviceId: DeviceId,
): Device | Promise<Device> {
  const admit = (device: Device | undefined): Device | Promise<Device> => {
    if (device === undefined) throw noDevice(deviceId);
    const asked = access.require(actor, 'devices-data:create', deviceResource(device));
    return asked === undefined ? device : asked.then(() => device);
  };
  const found = devices.find(deviceId);
  return found instanceof Promise ? found.then(admit) : admit(found);
}

/** Stamps the time of receipt. */
export function receive({ value, timestamp }: NewDatapoint, receivedAt: Instant): Datapoint {
  return timestamp === undefined ? { value, receivedAt } : { value, timestamp, receivedAt };
}

/** Whether the device's clock runs too far ahead of ours [contract 6]. */
export function isAhead({ timestamp }: NewDatapoint, now: Instant): boolean {
  return timestamp !== undefined && timestamp > now + limits.timestampAheadMs;
}

/** The refusal of such a timestamp; `where` says which datapoint of several it is. */
export function aheadOfClock(now: Instant, where: string): DomainError {
  return invalid(
    `the timestamp${where} is more than a day ahead of the server's clock, ` +
      `which says ${formatTimestamp(now)}`,
  );
}

function receiveAll(datapoints: readonly NewDatapoint[], now: Instant): readonly Datapoint[] {
  return datapoints.map((datapoint, index) => {
    if (isAhead(datapoint, now)) {
      throw aheadOfClock(now, datapoints.length === 1 ? '' : ` of datapoint ${index + 1}`);
    }
    return receive(datapoint, now);
  });
}
