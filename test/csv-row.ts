import type { Datapoint, SensorRef } from '../src/domain/datapoints/datapoint.ts';
import { csvIds, csvRowBehind } from '../src/wire/csv.ts';

/** A line of a CSV answer. */
export const csvRow = (row: SensorRef & { readonly datapoint: Datapoint }) =>
  csvRowBehind(csvIds(row), row.datapoint);
