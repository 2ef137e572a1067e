import type { Clock, Instant } from '../../lib/clock.ts';
import type { JsonValue } from '../../lib/json.ts';
import { formatTimestamp } from '../../lib/timestamp.ts';
import type { Access } from '../access/access.ts';
import type { Actor } from '../actor.ts';
import { type Device, sensorOf } from '../devices/device.ts';
import type { DeviceStore } from '../devices/device-store.ts';
import { deviceResource, noSensor, requireDevice } from '../devices/devices.ts';
import { type DomainError, invalid } from '../errors.ts';
import type { DeviceId } from '../ids.ts';
import { limits } from '../limits.ts';
import type { Appender } from './appender.ts';
import type { Datapoint, SensorRef } from './datapoint.ts';
import type { AppendOutcome, Push } from './datapoint-store.ts';
import type { Feed } from './feed.ts';

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
) => Promise<void>;

export interface IngestOptions {
  readonly devices: DeviceStore;
  readonly access: Access;
  readonly appender: Appender;
  readonly feed: Feed;
  readonly clock: Clock;
}

export function createIngest(options: IngestOptions): Ingest {
  const { clock } = options;
  return async (actor, { deviceId, sensorId }, datapoints) => {
    const device = await requirePushable(options, actor, deviceId);
    if (sensorOf(device, sensorId) === undefined) throw noSensor(deviceId, sensorId);
    if (datapoints.length === 0) return;
    const received = receiveAll(datapoints, clock.now());
    const outcome = await keep(options, { deviceId, sensorId, datapoints: received });
    if (outcome.kind === 'missing') throw noSensor(deviceId, sensorId);
  };
}

/** The device, for an actor who may push to it; throws not_found or forbidden. */
export async function requirePushable(
  { devices, access }: Pick<IngestOptions, 'devices' | 'access'>,
  actor: Actor,
  deviceId: DeviceId,
): Promise<Device> {
  const device = await requireDevice(devices, deviceId);
  await access.require(actor, 'devices-data:create', deviceResource(device));
  return device;
}

/** Makes the push durable, then tells those who watch what is new; every road in ends here. */
export async function keep(
  { appender, feed }: Pick<IngestOptions, 'appender' | 'feed'>,
  push: Push,
): Promise<AppendOutcome> {
  const outcome = await appender.append(push);
  if (outcome.kind === 'stored' && outcome.fresh.length > 0) {
    feed.publish([{ kind: 'datapoints', ...push, datapoints: outcome.fresh }]);
  }
  return outcome;
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
