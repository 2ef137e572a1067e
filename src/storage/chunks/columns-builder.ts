import type { Columns } from './columns.ts';

/** Columns being joined from rows: up to so many rows, and characters but for the last text. */
export function createColumnsBuilder(room: {
  readonly rowsMax: number;
  readonly charactersMax: number;
  readonly order: 'asc' | 'desc';
}) {
  const { rowsMax, charactersMax, order } = room;
  const times = new Float64Array(rowsMax);
  const received = new Float64Array(rowsMax);
  const timed = new Uint8Array(rowsMax);
  const numbers = new Float64Array(rowsMax);
  let texts: (string | undefined)[] | undefined;
  let count = 0;
  let characters = 0;

  function putText(text: string): void {
    texts ??= new Array<string | undefined>(rowsMax).fill(undefined);
    texts[count] = text;
    characters += text.length;
    numbers[count] = Number.NaN;
  }
  function putRow(columns: Columns, row: number): void {
    times[count] = columns.times[row] ?? 0;
    received[count] = columns.received[row] ?? 0;
    timed[count] = columns.timed[row] ?? 0;
    const text = columns.texts?.[row];
    if (text === undefined) numbers[count] = columns.numbers[row] ?? 0;
    else putText(text);
    count += 1;
  }
  return {
    /** Puts `rows` of them from `firstRow` on, in this order, until it is full. */
    putRows(columns: Columns, firstRow: number, rows: number): void {
      if (order === 'asc' && columns.texts === undefined) {
        const endRow = firstRow + rows;
        times.set(columns.times.subarray(firstRow, endRow), count);
        received.set(columns.received.subarray(firstRow, endRow), count);
        timed.set(columns.timed.subarray(firstRow, endRow), count);
        numbers.set(columns.numbers.subarray(firstRow, endRow), count);
        count += rows;
        return;
      }
      const step = order === 'asc' ? 1 : -1;
      for (let n = 0; n < rows && characters < charactersMax; n += 1) {
        putRow(columns, firstRow + n * step);
      }
    },
    /** Whether another text does not fit. */
    isFull: (): boolean => characters >= charactersMax,
    /** In the order they were put; where there is a text the number is NaN. */
    finish: (): Columns => ({
      count,
      times: times.subarray(0, count),
      received: received.subarray(0, count),
      timed: timed.subarray(0, count),
      numbers: numbers.subarray(0, count),
      ...(texts !== undefined && { texts }),
    }),
  };
}
