import type { Clock, Instant } from '../../lib/clock.ts';
import type { JsonValue } from '../../lib/json.ts';
import { formatTimestamp } from '../../lib/timestamp.ts';
import type { Access } from '../access/access.ts';
import type { Actor } from '../actor.ts';
import { sensorOf } from '../devices/device.ts';
import type { DeviceStore } from '../devices/device-store.ts';
import { deviceResource, noSensor, requireDevice } from '../devices/devices.ts';
import { invalid } from '../errors.ts';
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
 * disk and the sensor's last value shows them.
 */
export type Ingest = (
  actor: Actor,
  sensor: SensorRef,
  datapoints: readonly NewDatapoint[],
) => Promise<void>;

export function createIngest(options: {
  readonly devices: DeviceStore;
  readonly access: Access;
  readonly appender: Appender;
  readonly clock: Clock;
}): Ingest {
  const { devices, access, appender, clock } = options;
  return async (actor, { deviceId, sensorId }, datapoints) => {
    const device = await requireDevice(devices, deviceId);
    await access.require(actor, 'devices-data:create', deviceResource(device));
    if (sensorOf(device, sensorId) === undefined) throw noSensor(deviceId, sensorId);
    if (datapoints.length === 0) return;
    const received = receive(datapoints, clock.now());
    const outcome = await appender.append({ deviceId, sensorId, datapoints: received });
    if (outcome.kind === 'missing') throw noSensor(deviceId, sensorId);
  };
}

/** Stamps the time of receipt and refuses clocks that run far ahead of ours [contract 6]. */
function receive(datapoints: readonly NewDatapoint[], now: Instant): readonly Datapoint[] {
  const latest = now + limits.timestampAheadMs;
  return datapoints.map((datapoint, index) => {
    if (datapoint.timestamp !== undefined && datapoint.timestamp > latest) {
      const where = datapoints.length === 1 ? '' : ` of datapoint ${index + 1}`;
      throw invalid(
        `the timestamp${where} is more than a day ahead of the server's clock, ` +
          `which says ${formatTimestamp(now)}`,
      );
    }
    return { ...datapoint, receivedAt: now };
  });
}
