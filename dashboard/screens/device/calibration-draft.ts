import { typedNumber } from '../../api/exact-json.ts';
import type { CalibrationPoint } from '../../api/types.ts';
import { numberOf } from '../../i18n/formats.ts';

/** A point as it is typed. */
export interface PointDraft {
  readonly sensor: string;
  readonly real: string;
}

export const emptyPoint: PointDraft = { sensor: '', real: '' };

/** The form for the points that are there; at least two to fill in. */
export function draftPoints(points: readonly CalibrationPoint[]): readonly PointDraft[] {
  const drafts = points.map(({ sensor_value, real_value }) => ({
    sensor: String(sensor_value),
    real: String(real_value),
  }));
  return [...drafts, emptyPoint, emptyPoint].slice(0, Math.max(2, drafts.length));
}

/**
 * The points that were typed, by ascending sensor value. Undefined unless there are two or more,
 * all whole, with different sensor values; points left empty do not count.
 */
export function readPoints(draft: readonly PointDraft[]): readonly CalibrationPoint[] | undefined {
  const filled = draft.filter(({ sensor, real }) => sensor.trim() !== '' || real.trim() !== '');
  const points = filled.flatMap(({ sensor, real }) => {
    const sensor_value = numberOf(typedNumber(sensor));
    const real_value = numberOf(typedNumber(real));
    return sensor_value === undefined || real_value === undefined
      ? []
      : [{ sensor_value, real_value }];
  });
  const distinct = new Set(points.map(({ sensor_value }) => sensor_value));
  if (points.length < 2 || points.length < filled.length || distinct.size < points.length) {
    return undefined;
  }
  return points.sort((a, b) => a.sensor_value - b.sensor_value);
}
