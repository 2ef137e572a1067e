import type { Instant } from '../../lib/clock.ts';
import { asNumber } from '../../lib/json.ts';
import { type Calibration, calibrate, isApplied } from '../devices/calibration.ts';
import { calibratedDatapoint, type Datapoint, orderTime, type SensorRef } from './datapoint.ts';

/** Datapoints column by column: a reader of numbers only needs no object for each. */
export interface DatapointColumns {
  readonly count: number;
  /** Order times, in the order of the page. */
  readonly times: Float64Array;
  /** The values that are JSON numbers; NaN for every other one. */
  readonly numbers: Float64Array;
  /** When each was received, and 1 where it has a timestamp; an engine may leave both out. */
  readonly received?: Float64Array | undefined;
  readonly timed?: Uint8Array | undefined;
  /** The datapoint in a row. */
  at(row: number): Datapoint;
}

/** Rows of one sensor that come one after the other in an answer, of many sensors perhaps. */
export interface SensorRows<Source = { readonly ref: SensorRef }> {
  readonly source: Source;
  readonly columns: DatapointColumns;
  readonly from: number;
  readonly to: number;
}

/** All rows of columns. */
export const allRows = <Source>(source: Source, columns: DatapointColumns): SensorRows<Source> => ({
  ...{ source, columns, from: 0, to: columns.count },
});

/** The datapoints of a step, each with its source. */
export function* datapointsIn<Source>(
  step: readonly SensorRows<Source>[],
): Generator<readonly [Source, Datapoint]> {
  for (const { source, columns, from, to } of step) {
    for (let row = from; row < to; row += 1) yield [source, columns.at(row)];
  }
}

/** The columns of datapoints in their order. */
export function toDatapointColumns(datapoints: readonly Datapoint[]): DatapointColumns {
  const times = Float64Array.from(datapoints, orderTime);
  const numbers = Float64Array.from(datapoints, ({ value }) =>
    typeof value === 'number' ? value : Number.NaN,
  );
  return { count: datapoints.length, times, numbers, at: (row) => datapoints[row] as Datapoint };
}

/** An object for each datapoint. */
export function datapointsOf(columns: DatapointColumns): Datapoint[] {
  const datapoints: Datapoint[] = [];
  for (let row = 0; row < columns.count; row += 1) datapoints.push(columns.at(row));
  return datapoints;
}

/** The same datapoints as a calibration shows them. */
export function calibratedColumns(
  columns: DatapointColumns,
  calibration: Calibration | undefined,
): DatapointColumns {
  if (!isApplied(calibration)) return columns;
  const numbers = columns.numbers.map((number) =>
    Number.isNaN(number) ? number : Number(calibrate(calibration, number)),
  );
  const at = (row: number): Datapoint => calibratedDatapoint({ calibration }, columns.at(row));
  return { ...columns, numbers, at };
}

/** The same columns for readers of a row more than once: its object is made the first time. */
export function keptColumns(columns: DatapointColumns): DatapointColumns {
  let known: (Datapoint | undefined)[] | undefined;
  const at = (row: number): Datapoint => {
    known ??= new Array(columns.count);
    known[row] ??= columns.at(row);
    return known[row];
  };
  return { ...columns, at };
}

/** The number that the value in a row counts as, text that is a number included; else NaN. */
export function numberIn(columns: DatapointColumns, row: number): number {
  const number = columns.numbers[row] ?? Number.NaN;
  if (!Number.isNaN(number)) return number;
  return asNumber(columns.at(row).value) ?? Number.NaN;
}

/** The order time in a row. */
export const timeIn = (columns: DatapointColumns, row: number): Instant => columns.times[row] ?? 0;

/** The columns with other datapoints in some rows, and without those for which there is none. */
export function withChanged(
  columns: DatapointColumns,
  changed: ReadonlyMap<number, Datapoint | undefined>,
): DatapointColumns {
  const left = new Uint8Array(columns.count).fill(1);
  const numbers = columns.numbers.slice();
  for (const [row, datapoint] of changed) {
    if (datapoint === undefined) left[row] = 0;
    else numbers[row] = typeof datapoint.value === 'number' ? datapoint.value : Number.NaN;
  }
  const isLeft = (_: number, row: number) => left[row] === 1;
  const rows = Uint32Array.from(left.keys()).filter(isLeft);
  return {
    ...{ count: rows.length, times: columns.times.filter(isLeft), numbers: numbers.filter(isLeft) },
    ...{ received: columns.received?.filter(isLeft), timed: columns.timed?.filter(isLeft) },
    at: (row) => changed.get(rows[row] ?? 0) ?? columns.at(rows[row] ?? 0),
  };
}

/** Some rows of columns, one after the other. */
export function rowsOf(columns: DatapointColumns, from: number, to: number): DatapointColumns {
  if (from === 0 && to >= columns.count) return columns;
  const [times, numbers] = [columns.times.slice(from, to), columns.numbers.slice(from, to)];
  const [received, timed] = [columns.received?.slice(from, to), columns.timed?.slice(from, to)];
  const at = (row: number) => columns.at(from + row);
  return { count: times.length, times, numbers, received, timed, at };
}
