/** A raw sensor value and what it really was. */
export interface CalibrationPoint {
  readonly sensorValue: number;
  readonly realValue: number;
}

/** Online calibration of a sensor: piecewise linear through its points, applied on read. */
export interface Calibration {
  readonly isEnabled: boolean;
  /** Two or more, by ascending sensor value, no two alike. */
  readonly points: readonly CalibrationPoint[];
  /** Whether the client wrote value_min and value_max, or a list of points; answered the same way. */
  readonly spelling: 'ends' | 'points';
}
