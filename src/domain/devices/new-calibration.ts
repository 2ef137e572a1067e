import { invalid } from '../errors.ts';
import { limits } from '../limits.ts';
import type { Calibration } from './calibration.ts';

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
