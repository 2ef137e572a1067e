/** Which sensor's datapoints. */
export interface SeriesKey {
  readonly bucket: number;
  readonly series: number;
}
