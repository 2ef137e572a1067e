import type { JsonValue } from '../../lib/json.ts';

/** A raw sensor value and what it really was. */
export interface CalibrationPoint {
  readonly sensorValue: number;
  readonly realValue: number;
}

/** Online calibration of a sensor: piecewise linear through its points, applied on read. */
export interface Calibration {
  /** Absent counts as true. */
  readonly isEnabled?: boolean;
  /** Two or more, no two alike; a list of points by ascending sensor value. */
  readonly points: readonly CalibrationPoint[];
  /** Whether the client wrote value_min and value_max, or points; answered the same way. */
  readonly spelling: 'ends' | 'points';
}

/** Whether reads are calibrated: there is a calibration, and it was not switched off. */
export const isApplied = (calibration: Calibration | undefined): calibration is Calibration =>
  calibration !== undefined && calibration.isEnabled !== false;

/** A line through a calibration point: sensor values and what they really were. */
export interface LinearCalibration extends CalibrationPoint {
  readonly slope: number;
}

/** The line on which both raw values lie; undefined: they lie on different ones. */
export function lineOf(
  { points }: Calibration,
  least: number,
  greatest: number,
): LinearCalibration | undefined {
  const index = segmentOf(points, least);
  return segmentOf(points, greatest) === index ? lineAt(points, index) : undefined;
}

/** The number of the point at the upper end of the segment of a raw value. */
function segmentOf(points: readonly CalibrationPoint[], value: number): number {
  let index = 1;
  while (index < points.length - 1 && value > (points[index]?.sensorValue ?? 0)) index += 1;
  return index;
}

function lineAt(points: readonly CalibrationPoint[], index: number): LinearCalibration | undefined {
  const [low, high] = [points[index - 1], points[index]];
  if (low === undefined || high === undefined) return undefined;
  const slope = (high.realValue - low.realValue) / (high.sensorValue - low.sensorValue);
  return { ...low, slope };
}

/**
 * The real value for a raw one. Only JSON numbers are calibrated [contract 5]; beyond the first and
 * the last point the nearest segment goes on as a line.
 */
export function calibrate(calibration: Calibration | undefined, value: JsonValue): JsonValue {
  if (!isApplied(calibration) || typeof value !== 'number') return value;
  const { points } = calibration;
  const line = lineAt(points, segmentOf(points, value));
  if (line === undefined) return value;
  const real = line.realValue + (value - line.sensorValue) * line.slope;
  return Number.isFinite(real) ? real : value;
}
