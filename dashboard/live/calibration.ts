import { calibrate } from '../../src/domain/devices/calibration.ts';
import type { Calibration, CalibrationPoint } from '../api/types.ts';

/** The points of a calibration, by ascending sensor value; fewer than two calibrate nothing. */
export function calibrationPoints(calib: Calibration | undefined): readonly CalibrationPoint[] {
  if (calib === undefined) return [];
  const { value_min, value_max, points = [] } = calib.linear;
  const given = [value_min, ...points, value_max].filter((point) => point !== undefined);
  const bySensorValue = new Map(given.map((point) => [point.sensor_value, point]));
  return [...bySensorValue.values()].sort((a, b) => a.sensor_value - b.sensor_value);
}

/** The real value for a raw number, as the service makes it. */
export function realValue(given: readonly CalibrationPoint[], raw: number): number {
  const points = given.map(({ sensor_value, real_value }) => ({
    sensorValue: sensor_value,
    realValue: real_value,
  }));
  return Number(calibrate({ points, spelling: 'points' }, raw));
}

/** A pushed value as a read would give it: MQTT brings what was sent, before calibration. */
export function calibrated(value: unknown, calib: Calibration | undefined): unknown {
  if (typeof value !== 'number' || calib?.linear.enabled === false) return value;
  return realValue(calibrationPoints(calib), value);
}
