import type { Calibration, Datapoint } from '../../api/types.ts';
import { numberOf } from '../../i18n/formats.ts';
import { calibrationPoints, realValue } from '../../live/calibration.ts';

/** When a datapoint is from: its timestamp, or when it arrived. */
export const timeOf = ({ timestamp, date_received }: Datapoint): string =>
  timestamp ?? date_received ?? '';

const measured = (value: unknown): number | undefined =>
  typeof value === 'string' ? undefined : numberOf(value);

/** The one that is most likely meant: the number farthest from the others, else the last one. */
export function likelyWrong(values: readonly unknown[]): number {
  const numbers = values.flatMap((value) => measured(value) ?? []);
  const middle = [...numbers].sort((a, b) => a - b)[Math.floor((numbers.length - 1) / 2)];
  if (middle === undefined) return values.length - 1;
  let found = values.length - 1;
  let farthest = -1;
  for (const [index, value] of values.entries()) {
    const number = measured(value);
    if (number === undefined || Math.abs(number - middle) <= farthest) continue;
    farthest = Math.abs(number - middle);
    found = index;
  }
  return found;
}

/**
 * What has to be stored for this value to show: the service keeps values as they are before
 * calibration. Undefined: no value shows like this.
 */
export function storedFor(shown: unknown, calib: Calibration | undefined): unknown {
  if (typeof shown !== 'number' || calib === undefined || calib.linear.enabled === false) {
    return shown;
  }
  const points = calibrationPoints(calib);
  if (points.length < 2) return shown;
  for (let index = 1; index < points.length; index += 1) {
    const [low, high] = [points[index - 1], points[index]];
    if (low === undefined || high === undefined) continue;
    const slope = (high.real_value - low.real_value) / (high.sensor_value - low.sensor_value);
    const raw = low.sensor_value + (shown - low.real_value) / slope;
    const isSo = Math.abs(realValue(points, raw) - shown) <= 1e-9 * Math.max(1, Math.abs(shown));
    if (Number.isFinite(raw) && isSo) return Number(raw.toPrecision(15));
  }
  return undefined;
}
