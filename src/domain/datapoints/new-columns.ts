import type { Instant } from '../../lib/clock.ts';
import type { JsonValue } from '../../lib/json.ts';
import { storedJson, writeJson } from '../../lib/long-json.ts';

/** Columns grow by parts of so many rows: nothing is copied as they grow. */
const rowsPerPart = 4_096;

interface Part {
  readonly numbers: Float64Array;
  /** NaN where there is none. */
  readonly timestamps: Float64Array;
  /** Values that are no numbers, as JSON.stringify writes them; absent while there are none. */
  texts: (string | undefined)[] | undefined;
}

const newPart = (): Part => ({
  numbers: new Float64Array(rowsPerPart),
  timestamps: new Float64Array(rowsPerPart).fill(Number.NaN),
  texts: undefined,
});

/**
 * Datapoints of a long array as they are handed over, in columns: hundreds of thousands of objects
 * that live until they are stored hold the main thread whenever garbage is collected.
 */
export class NewColumns implements NewDatapoints {
  length = 0;
  readonly #parts: Part[] = [];

  push({ value, timestamp }: NewDatapoint): void {
    const row = this.length % rowsPerPart;
    if (row === 0) this.#parts.push(newPart());
    const part = this.#partOf(this.length);
    if (part === undefined) return;
    if (typeof value === 'number') part.numbers[row] = value;
    else {
      part.texts ??= new Array<string | undefined>(rowsPerPart).fill(undefined);
      part.texts[row] = writeJson(value);
    }
    if (timestamp !== undefined) part.timestamps[row] = timestamp;
    this.length += 1;
  }

  at(position: number): NewDatapoint | undefined {
    if (position < 0 || position >= this.length) return undefined;
    const text = this.textAt(position);
    const value = text === undefined ? this.numberAt(position) : storedJson(text);
    const timestamp = this.timestampAt(position);
    return timestamp === undefined ? { value } : { value, timestamp };
  }

  /** The value as JSON text; undefined: it is a number. */
  textAt(position: number): string | undefined {
    return this.#partOf(position)?.texts?.[position % rowsPerPart];
  }

  numberAt(position: number): number {
    return this.#partOf(position)?.numbers[position % rowsPerPart] ?? 0;
  }

  timestampAt(position: number): Instant | undefined {
    const timestamp = this.#partOf(position)?.timestamps[position % rowsPerPart];
    return timestamp === undefined || Number.isNaN(timestamp) ? undefined : timestamp;
  }

  #partOf(position: number): Part | undefined {
    return this.#parts[Math.floor(position / rowsPerPart)];
  }
}

/** A datapoint as a client hands it over: not yet received. */
export interface NewDatapoint {
  readonly value: JsonValue;
  readonly timestamp?: Instant;
}

/** Datapoints of one push by position: an array, or the columns of a long one. */
export interface NewDatapoints {
  readonly length: number;
  at(position: number): NewDatapoint | undefined;
}
