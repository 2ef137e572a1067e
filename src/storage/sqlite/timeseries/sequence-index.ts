import { randomInt } from 'node:crypto';
import type { Instant } from '../../../lib/clock.ts';
import { type MemtableColumns, timestampAt, valueAt } from './memtable-columns.ts';

/** Finds a row by its count of arrival. */
export type RowAt = (sequenceNumber: number) => {
  readonly columns: MemtableColumns;
  readonly row: number;
};

/** Datapoints of the first block; a later one has as many as all before it, … */
const blockCountMin = 8;
/** … up to a table of 64 KB. */
const blockCountMax = 16_384;
/** Secret of the process: no client can choose datapoints that fall on one slot. */
const seed = randomInt(2 ** 32);
const factor = randomInt(2 ** 31) * 2 + 1;
const words = new Uint32Array(2);
const double = new Float64Array(words.buffer);

/** A table of datapoints that came one after the other; at most half of its slots are taken. */
interface Block {
  /** Each has how far behind the base a count of arrival is, from 1; 0: free. */
  readonly slots: Uint16Array;
  readonly base: number;
  count: number;
  earliest: Instant;
  latest: Instant;
}

/**
 * Which datapoint outside chunks has a timestamp and a value: tables of counts of arrival, 4 to 8
 * bytes for each, whose timestamps and values stay in their columns. A full table stays as it is
 * and the next one begins, so that none is ever copied; those whose timestamps end before or begin
 * after the one that is asked for are passed over.
 */
export class SequenceIndex {
  readonly #rowAt: RowAt;
  readonly #blocks: Block[] = [];
  /** The one that grows. */
  #block: Block;

  /** An empty index of counts from `base`, for so many datapoints at first. */
  constructor(base: number, room: number, rowAt: RowAt) {
    this.#rowAt = rowAt;
    this.#block = this.#begin(base, room);
  }

  /** Adds a datapoint that has a timestamp. */
  add(sequenceNumber: number): void {
    const { columns, row } = this.#rowAt(sequenceNumber);
    const timestamp = timestampAt(columns, row);
    if (timestamp === undefined) return;
    const block = this.#blockFor(sequenceNumber);
    const hash = hashOf(timestamp, valueAt(columns, row));
    const mask = block.slots.length - 1;
    let slot = hash & mask;
    while (block.slots[slot] !== 0) slot = (slot + 1) & mask;
    block.slots[slot] = sequenceNumber - block.base + 1;
    block.count += 1;
    if (timestamp < block.earliest) block.earliest = timestamp;
    if (timestamp > block.latest) block.latest = timestamp;
  }

  /** The count of the first datapoint with this timestamp, and this number or JSON text. */
  find(timestamp: Instant, value: string | number): number | undefined {
    const hash = hashOf(timestamp, value);
    for (const block of this.#blocks) {
      if (timestamp < block.earliest || timestamp > block.latest) continue;
      const behind = this.#behindIn(block, hash, timestamp, value);
      if (behind !== 0) return block.base + behind - 1;
    }
    return undefined;
  }

  #behindIn(block: Block, hash: number, timestamp: Instant, value: string | number): number {
    const { slots, base } = block;
    const mask = slots.length - 1;
    let slot = hash & mask;
    for (;;) {
      const behind = slots[slot] ?? 0;
      if (behind === 0) return 0;
      const { columns, row } = this.#rowAt(base + behind - 1);
      if (timestampAt(columns, row) === timestamp && valueAt(columns, row) === value) return behind;
      slot = (slot + 1) & mask;
    }
  }

  /** The table that has a slot for a datapoint, whose distance from its base fits into the slot. */
  #blockFor(sequenceNumber: number): Block {
    const { base, count, slots } = this.#block;
    if (count * 2 === slots.length || sequenceNumber - base >= 0xffff) {
      this.#block = this.#begin(sequenceNumber, slots.length);
    }
    return this.#block;
  }

  #begin(base: number, room: number): Block {
    let length = blockCountMin * 2;
    while (length < room * 2 && length < blockCountMax * 2) length *= 2;
    const slots = new Uint16Array(length);
    const none = { earliest: Number.POSITIVE_INFINITY, latest: Number.NEGATIVE_INFINITY };
    const block = { slots, base, count: 0, ...none };
    this.#blocks.push(block);
    return block;
  }
}

function hashOf(timestamp: Instant, value: string | number): number {
  let hash = mixDouble(seed, timestamp);
  if (typeof value === 'number') {
    hash = mixDouble(hash, value);
  } else {
    for (let at = 0; at < value.length; at += 1) hash = mix(hash, value.charCodeAt(at));
  }
  return hash ^ (hash >>> 16);
}

function mixDouble(hash: number, value: number): number {
  // -0 equals 0.
  double[0] = value + 0;
  return mix(mix(hash, words[0] ?? 0), words[1] ?? 0);
}

function mix(hash: number, word: number): number {
  const product = Math.imul(hash ^ word, factor);
  return product ^ (product >>> 15);
}
