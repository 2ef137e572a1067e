import type { Datapoint, SensorRef } from '../domain/datapoints/datapoint.ts';
import type { DatapointColumns } from '../domain/datapoints/datapoint-columns.ts';
import { joinedText, type LongText } from '../lib/long-json.ts';
import { createTextBytes, type TextBytes } from '../lib/text-bytes.ts';
import { csvIds, csvRow, csvRowWithoutIds } from './csv.ts';
import { createDatapointWriter, datapointIds } from './datapoint.ts';
import { type Spelling, v2Spelling } from './spelling.ts';

/**
 * Writes datapoints column by column, as the writers of single ones would, byte for byte: in one
 * piece, but for long values.
 */
export type RowsWriter = (columns: DatapointColumns) => Uint8Array | LongText;

/** Lines of CSV. */
export function createCsvRows(sensor: SensorRef, spelling: Spelling = v2Spelling): RowsWriter {
  if (!spelling.hasIdsInCsv) {
    return rowsWriter({
      slow: csvRowWithoutIds,
      fast(text, number, timestamp, received) {
        if (timestamp !== undefined) text.putInstant(timestamp);
        text.putBytes(comma);
        text.putInstant(received);
        text.putBytes(comma);
        text.putNumber(number);
        text.putBytes(lineEnd);
      },
    });
  }
  const ids = Buffer.from(csvIds(sensor));
  return rowsWriter({
    slow: (datapoint) => csvRow({ ...sensor, datapoint }),
    fast(text, number, timestamp, received) {
      text.putBytes(ids);
      text.putNumber(number);
      text.putBytes(comma);
      if (timestamp !== undefined) text.putInstant(timestamp);
      text.putBytes(comma);
      text.putInstant(received);
      text.putBytes(lineEnd);
    },
  });
}

/** Elements of a JSON array, with commas in between. */
export function createJsonRows(sensor: SensorRef, spelling: Spelling = v2Spelling): RowsWriter {
  const ids = Buffer.from(datapointIds(sensor, spelling));
  return rowsWriter({
    slow: createDatapointWriter(sensor, spelling),
    between: comma,
    fast(text, number, timestamp, received) {
      text.putBytes(ids);
      if (timestamp !== undefined) {
        text.putBytes(timestampKey);
        text.putInstant(timestamp);
        text.putBytes(valueKey);
      } else {
        text.putBytes(onlyValueKey);
      }
      text.putNumber(number);
      text.putBytes(receivedKey);
      text.putInstant(received);
      text.putBytes(objectEnd);
    },
  });
}

const comma = Buffer.from(',');
const lineEnd = Buffer.from('\r\n');
const timestampKey = Buffer.from('"timestamp":"');
const valueKey = Buffer.from('","value":');
const onlyValueKey = Buffer.from('"value":');
const receivedKey = Buffer.from(',"date_received":"');
const objectEnd = Buffer.from('"}');

function rowsWriter(how: {
  /** A datapoint as an object. */
  readonly slow: (datapoint: Datapoint) => string | LongText;
  /** A datapoint whose value is a number. */
  readonly fast: (
    text: TextBytes,
    number: number,
    timestamp: number | undefined,
    received: number,
  ) => void;
  readonly between?: Uint8Array;
}): RowsWriter {
  const { slow, fast, between } = how;

  /** Answers what stands before the last row with a long value, up to its end. */
  function putRows(columns: DatapointColumns): readonly (Uint8Array | LongText)[] {
    const before: (Uint8Array | LongText)[] = [];
    const { count, times, numbers, received, timed } = columns;
    const hasAll = received?.length === count && timed?.length === count;
    for (let row = 0; row < count; row += 1) {
      if (between !== undefined && row > 0) text.putBytes(between);
      const number = numbers[row] ?? Number.NaN;
      if (!hasAll || Number.isNaN(number)) {
        const written = slow(columns.at(row));
        if (typeof written === 'string') text.putText(written);
        else before.push(text.take(), written);
      } else {
        fast(text, number, timed[row] === 0 ? undefined : times[row], received[row] ?? 0);
      }
    }
    return before;
  }

  return (columns) => {
    try {
      const before = putRows(columns);
      return before.length === 0 ? text.take() : joinedText([...before, text.take()]);
    } finally {
      // Text that a failure left belongs to no other answer.
      text.clear();
    }
  };
}

/** Rows of all answers are written here, one step at a time; only what was written is kept. */
const text = createTextBytes();
