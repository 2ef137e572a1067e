import { randomInt } from 'node:crypto';
import type { Instant } from '../../../lib/clock.ts';
import { type MemtableColumns, timestampAt, valueAt } from './memtable-columns.ts';

/** Finds a row by its count of arrival. */
export type RowAt = (sequenceNumber: number) => {
  readonly columns: MemtableColumns;
  readonly row: number;
};

const slotsMin = 16;
const nothing = new Uint32Array(0);
/**
 * Slots that move to a larger table whenever so many were added: together, as the first ones bring
 * their datapoints into the processor's cache.
 */
const [movedSlots, addsPerMove] = [512, 32];
/** How full tables get, spread so that a thousand sensors of one pace do not grow in one batch. */
const fillMin = 0.5;
const fillSpread = 0.1;
/** Steps by the golden ratio spread evenly, however many there are. */
const goldenStep = 0.618_033_988_749_895;
let spread = 0;
/** Secret of the process: no client can choose datapoints that fall on one slot. */
const seed = randomInt(2 ** 32);
const factor = randomInt(2 ** 31) * 2 + 1;

const words = new Uint32Array(2);
const double = new Float64Array(words.buffer);

/**
 * Which datapoint outside chunks has a timestamp and a value: a table of counts of arrival, 7 to 16
 * bytes for each, whose timestamps and values stay in their columns.
 */
export class SequenceIndex {
  readonly #base: number;
  readonly #rowAt: RowAt;
  /** Each has how far behind the base a count is, from 1; 0: free. */
  #slots: Uint32Array;
  #count = 0;
  /** How much of its slots the table fills before it grows. */
  readonly #fill: number;
  /** The same as a count. */
  #countMax: number;
  /** The table before it grew, whose slots from `#moved` on are still to be moved. */
  #before: Uint32Array = nothing;
  #moved = 0;

  /** An empty index of counts from `base`, for so many datapoints at first. */
  constructor(base: number, room: number, rowAt: RowAt) {
    this.#base = base;
    this.#rowAt = rowAt;
    spread = (spread + goldenStep) % 1;
    let length = slotsMin;
    while (length < room * 2) length *= 2;
    this.#slots = new Uint32Array(length);
    this.#fill = fillMin + fillSpread * spread;
    this.#countMax = Math.floor(length * this.#fill);
  }

  /** Adds a datapoint that has a timestamp, unless an equal one is there. */
  add(sequenceNumber: number): void {
    const { columns, row } = this.#rowAt(sequenceNumber);
    const timestamp = timestampAt(columns, row);
    if (timestamp === undefined) return;
    const value = valueAt(columns, row);
    const slot = this.#slotOf(this.#slots, timestamp, value);
    if (this.#slots[slot] !== 0 || this.#inBefore(timestamp, value) !== 0) return;
    this.#slots[slot] = sequenceNumber - this.#base + 1;
    this.#count += 1;
    if (this.#before !== nothing && this.#count % addsPerMove === 0) this.#move();
    if (this.#count > this.#countMax) this.#grow();
  }

  /** The count of the datapoint with this timestamp, and this number or JSON text; or undefined. */
  find(timestamp: Instant, value: string | number): number | undefined {
    const slot = this.#slotOf(this.#slots, timestamp, value);
    const behind = this.#slots[slot] || this.#inBefore(timestamp, value);
    return behind === 0 ? undefined : this.#base + behind - 1;
  }

  /** The entry in the table before it grew; 0: none. */
  #inBefore(timestamp: Instant, value: string | number): number {
    if (this.#before === nothing) return 0;
    return this.#before[this.#slotOf(this.#before, timestamp, value)] ?? 0;
  }

  /** Where the datapoint is, or the free slot where it would be. */
  #slotOf(slots: Uint32Array, timestamp: Instant, value: string | number): number {
    const mask = slots.length - 1;
    let slot = hashOf(timestamp, value) & mask;
    for (;;) {
      const behind = slots[slot] ?? 0;
      if (behind === 0) return slot;
      const { columns, row } = this.#rowAt(this.#base + behind - 1);
      if (timestampAt(columns, row) === timestamp && valueAt(columns, row) === value) return slot;
      slot = (slot + 1) & mask;
    }
  }

  /** Begins a table of twice the slots; what is in the one before moves while it fills. */
  #grow(): void {
    this.#before = this.#slots;
    this.#moved = 0;
    this.#slots = new Uint32Array(this.#before.length * 2);
    this.#countMax = Math.floor(this.#slots.length * this.#fill);
  }

  /** Moves some slots: all are moved long before the larger table is full. */
  #move(): void {
    const end = Math.min(this.#moved + movedSlots, this.#before.length);
    for (; this.#moved < end; this.#moved += 1) {
      const behind = this.#before[this.#moved] ?? 0;
      if (behind === 0) continue;
      const { columns, row } = this.#rowAt(this.#base + behind - 1);
      const timestamp = timestampAt(columns, row) ?? 0;
      this.#slots[this.#slotOf(this.#slots, timestamp, valueAt(columns, row))] = behind;
    }
    if (end === this.#before.length) this.#before = nothing;
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
