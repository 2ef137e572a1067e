import type { Calibration, CalibrationPoint } from '../api/types.ts';

/** The points of a calibration, by ascending sensor value; fewer than two calibrate nothing. */
export function calibrationPoints(calib: Calibration | undefined): readonly CalibrationPoint[] {
  if (calib === undefined) return [];
  const { value_min, value_max, points = [] } = calib.linear;
  const given = [value_min, ...points, value_max].filter((point) => point !== undefined);
  const bySensorValue = new Map(given.map((point) => [point.sensor_value, point]));
  return [...bySensorValue.values()].sort((a, b) => a.sensor_value - b.sensor_value);
}

/** The real value for a raw number, on the line through the points around it [contract 5]. */
export function realValue(points: readonly CalibrationPoint[], raw: number): number {
  let index = 1;
  while (index < points.length - 1 && raw > (points[index]?.sensor_value ?? 0)) index += 1;
  const low = points[index - 1];
  const high = points[index];
  if (low === undefined || high === undefined) return raw;
  const slope = (high.real_value - low.real_value) / (high.sensor_value - low.sensor_value);
  const real = low.real_value + (raw - low.sensor_value) * slope;
  return Number.isFinite(real) ? real : raw;
}

/** A pushed value as a read would give it: MQTT brings what was sent, before calibration. */
export function calibrated(value: unknown, calib: Calibration | undefined): unknown {
  if (typeof value !== 'number' || calib?.linear.enabled === false) return value;
  return realValue(calibrationPoints(calib), value);
}
