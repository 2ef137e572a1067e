import type { Calibration } from '../api/types.ts';
import type { SensorKey } from './history.ts';
import type { Preset } from './ranges.ts';

/** A sensor on a chart. */
export interface ChartSensor extends SensorKey {
  readonly name: string;
  /** As it is shown: "°C". Sensors of one unit share a scale. */
  readonly unit?: string;
  /** How its values are corrected; what is drawn is read anew when that changes. */
  readonly calib?: Calibration;
  /** Where an alert would fire: a dashed line. */
  readonly threshold?: number;
  /** Nothing has come for too long: the line is dashed. */
  readonly isStale?: boolean;
}

/** What a chart is given. It reads the values itself and follows them live. */
export interface ChartProps {
  readonly sensors: readonly ChartSensor[];
  /** Instants at which an alert fired, marked at the foot. */
  readonly firings?: readonly number[];
  readonly initialPreset?: Preset;
  /** When the newest value is from, for charts that are empty. */
  readonly lastAt?: number | undefined;
}
