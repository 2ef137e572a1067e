import type { Instant } from '../../lib/clock.ts';
import { isBigNumber, type JsonValue } from '../../lib/json.ts';
import { calibrate, isApplied } from '../devices/calibration.ts';
import type { Sensor } from '../devices/device.ts';
import type { CorrectionId, DeviceId, SensorId } from '../ids.ts';

/** A value of a sensor. */
export interface Datapoint {
  readonly value: JsonValue;
  /** The device's clock; absent when it has none. */
  readonly timestamp?: Instant;
  /** Our clock. */
  readonly receivedAt: Instant;
  /** Where what was pushed is read: the correction that removed it or put it right. */
  readonly correction?: CorrectionId;
}

/** A sensor of a device. */
export interface SensorRef {
  readonly deviceId: DeviceId;
  readonly sensorId: SensorId;
}

/** Time that orders and filters datapoints [contract 6]: the timestamp, else that of receipt. */
export function orderTime(datapoint: Datapoint): Instant {
  return datapoint.timestamp ?? datapoint.receivedAt;
}

/** A clock of a device may be so far ahead of ours and count as right. */
const clockToleranceMs = 60_000;

/** The newest times of a sensor: as its datapoints say, and none of them after its receipt. */
export interface Newest {
  readonly said: Instant;
  readonly received: Instant;
}

export const noNewest: Newest = {
  ...{ said: Number.NEGATIVE_INFINITY, received: Number.NEGATIVE_INFINITY },
};

export const isDatedAhead = (datapoint: Datapoint): boolean =>
  orderTime(datapoint) > datapoint.receivedAt + clockToleranceMs;

export const newestWith = ({ said, received }: Newest, datapoint: Datapoint): Newest => ({
  said: Math.max(said, orderTime(datapoint)),
  received: Math.max(
    received,
    isDatedAhead(datapoint) ? datapoint.receivedAt : orderTime(datapoint),
  ),
});

/**
 * Whether a datapoint is older than the newest of its sensor: no rule looks at it [contract 15].
 * A datapoint dated long after its receipt, by a wrong clock or by a stranger, makes
 * history of those alone that are dated so as well: it would silence alarms until its date.
 */
export function isHistory(datapoint: Datapoint, { said, received }: Newest): boolean {
  return orderTime(datapoint) < (isDatedAhead(datapoint) ? said : received);
}

/**
 * Which of the datapoints of one array becomes the last value [contract 3]: the newest by
 * timestamp, the later of two alike; the last of the array when one has no timestamp.
 */
export function lastAmong<One extends Pick<Datapoint, 'timestamp'>>(
  datapoints: readonly One[],
): One | undefined {
  let newest: One | undefined;
  for (const datapoint of datapoints) {
    if (datapoint.timestamp === undefined) return datapoints.at(-1);
    if ((newest?.timestamp ?? Number.NEGATIVE_INFINITY) <= datapoint.timestamp) newest = datapoint;
  }
  return newest;
}

/** The datapoint as the sensor's calibration shows it; the stored one stays as it is. */
export function calibratedDatapoint(
  { calibration }: Pick<Sensor, 'calibration'>,
  datapoint: Datapoint,
): Datapoint {
  if (!isApplied(calibration)) return datapoint;
  const { value } = datapoint;
  // A number of more digits than a double holds is calibrated as the double next to it.
  const real = calibrate(calibration, isBigNumber(value) ? Number(value.rawJSON) : value);
  return Object.is(real, value) ? datapoint : { ...datapoint, value: real };
}
