import type { Instant } from '../../lib/clock.ts';
import type { JsonValue } from '../../lib/json.ts';
import { storedJson, writeJson } from '../../lib/long-json.ts';
import type { BatchBuilder } from './column-batch.ts';

/** Of a block of columns: 256 KiB. */
const rowsPerBlock = 16_384;

/**
 * Datapoints of a long array as they are handed over, in columns: hundreds of thousands of objects
 * that live until they are stored hold the main thread whenever garbage is collected.
 */
export class NewColumns implements NewDatapoints {
  #length = 0;
  /** Numbers, each with its timestamp behind it, NaN where there is none; the last one grows. */
  readonly #blocks: number[][] = [];
  /** Values that are no numbers, as JSON.stringify writes them; as many as a block's last needs. */
  readonly #texts: (string | undefined)[][] = [];

  get length(): number {
    return this.#length;
  }

  push({ value, timestamp = Number.NaN }: NewDatapoint): void {
    if (typeof value === 'number') this.putNumber(value, timestamp);
    else this.putText(writeJson(value), timestamp);
  }

  /** Adds a number; timestamp: NaN where there is none. */
  putNumber(value: number, timestamp: number): void {
    // A long array is never copied as a whole.
    if (this.#length % rowsPerBlock === 0) this.#blocks.push([]);
    this.#blocks[this.#blocks.length - 1]?.push(value, timestamp);
    this.#length += 1;
  }

  /** Adds the JSON text of a value that is no number. */
  putText(text: string, timestamp: number): void {
    const block = Math.floor(this.#length / rowsPerBlock);
    const texts = this.#texts[block] ?? [];
    this.#texts[block] = texts;
    while (texts.length < this.#length % rowsPerBlock) texts.push(undefined);
    texts.push(text);
    this.putNumber(0, timestamp);
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
    return this.#texts[Math.floor(position / rowsPerBlock)]?.[position % rowsPerBlock];
  }

  numberAt(position: number): number {
    return this.#blocks[Math.floor(position / rowsPerBlock)]?.[2 * (position % rowsPerBlock)] ?? 0;
  }

  timestampAt(position: number): Instant | undefined {
    const block = this.#blocks[Math.floor(position / rowsPerBlock)];
    const timestamp = block?.[2 * (position % rowsPerBlock) + 1];
    return timestamp === undefined || Number.isNaN(timestamp) ? undefined : timestamp;
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

/** Puts a datapoint, received now, into a batch. */
export function putRow(builder: BatchBuilder, from: NewDatapoints, at: number, now: Instant): void {
  if (from instanceof NewColumns) {
    const text = from.textAt(at);
    if (text === undefined) builder.put(from.numberAt(at), from.timestampAt(at), now);
    else builder.putText(text, from.timestampAt(at), now);
    return;
  }
  const { value, timestamp } = from.at(at) as NewDatapoint;
  builder.put(value, timestamp, now);
}
