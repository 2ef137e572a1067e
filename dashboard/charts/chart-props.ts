import type { Measures } from '../api/measures.ts';
import type { Calibration } from '../api/types.ts';
import type { SensorKey } from './history-query.ts';
import type { Shape } from './panels.ts';
import type { Preset, TimeRange } from './ranges.ts';

/** A sensor on a chart. */
export interface ChartSensor extends SensorKey {
  readonly name: string;
  /** As it is shown: "°C". Sensors of one unit share a scale. */
  readonly unit?: string;
  /** As a line unless said otherwise; amounts are bars of sums, texts have a lane below. */
  readonly shape?: Shape;
  /** The aggregate that bars show; undefined while `measures` is not known. */
  readonly measures?: Measures | undefined;
  /** How its values are corrected; what is drawn is read anew when that changes. */
  readonly calib?: Calibration;
  /** Where an alert would fire: a dashed line. */
  readonly threshold?: number;
  /** Nothing has come for too long: the line is dashed. */
  readonly isStale?: boolean;
}

/** What somebody says is wrong: what they tapped on, else all that is shown. */
export interface Wrong {
  readonly range: TimeRange;
  /** What the point that was tapped on stands for: an instant, or an interval of several values. */
  readonly mark?: TimeRange;
}

/** What a chart is given. It reads the values itself and follows them live. */
export interface ChartProps {
  readonly sensors: readonly ChartSensor[];
  /** Set when all sensors of these devices are on the chart: asked for by these names alone. */
  readonly devices?: readonly string[] | undefined;
  /** The zone that times are shown and days are cut in; absent: the browser's. */
  readonly zone?: string | undefined;
  /** Instants at which an alert fired, marked at the foot. */
  readonly firings?: readonly number[];
  readonly initialPreset?: Preset;
  /** How wide its place is, about, where that is not most of the screen. */
  readonly roomPx?: number;
  /** The address names the range that is shown, so that it can be kept and passed on. */
  readonly isInAddress?: true;
  /** When the newest value is from, for charts that are empty. */
  readonly lastAt?: number | undefined;
  /** The newest value of each sensor: what the legend says of now, where points are averages. */
  readonly latest?: readonly unknown[];
  /** Told of what is wrong; absent: nobody who looks may put it right. */
  readonly onWrong?: ((wrong: Wrong) => void) | undefined;
}
