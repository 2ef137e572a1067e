import { type PackedPush, PackedPushes } from './packed-pushes.ts';
import type { MemtableEntry, Series } from './series.ts';

/** A series, or the place of its first push among those that are packed. */
type Held = Series | number;
type Head = Pick<MemtableEntry, 'firstRow' | 'startedAt'>;

/**
 * The series with datapoints in the memtable, in order of their first log row; those that nothing
 * has asked for since the start are no objects, and their pushes are packed.
 */
export class LiveSeries {
  #held = new Map<number, Held>();
  #packed = new PackedPushes();
  #packedCount = 0;

  get size(): number {
    return this.#held.size;
  }

  /** The oldest one: its series, unless it is packed, and where it begins in the log. */
  oldest(): { readonly number: number; readonly series?: Series; readonly head: Head } | undefined {
    for (const [number, held] of this.#held) {
      const found = { number, head: this.#headOf(held) };
      return typeof held === 'number' ? found : { ...found, series: held };
    }
    return undefined;
  }

  /** Adds a series at the end, or at its place where it was packed. */
  add(series: Series): void {
    this.#unpacked(series.number);
    this.#held.set(series.number, series);
  }

  delete(number: number): void {
    this.#unpacked(number);
    this.#held.delete(number);
  }

  /** Adds a push; says whether it is the first one of its series. */
  pack(one: PackedPush): boolean {
    const { series } = one.push;
    const first = this.#firstOf(series);
    const place = this.#packed.add(first, one);
    if (first === undefined) {
      this.#held.set(series, place);
      this.#packedCount += 1;
    }
    return first === undefined;
  }

  /** The packed pushes of a series; undefined: it has none. */
  packedOf(number: number): Iterable<PackedPush> | undefined {
    const first = this.#firstOf(number);
    return first === undefined ? undefined : this.#packed.of(number, first);
  }

  /** The numbers of series whose pushes are packed. */
  packed(): readonly number[] {
    return [...this.#held].flatMap(([number, held]) => (typeof held === 'number' ? number : []));
  }

  /** Whether pushes of the series are packed, the first of them before so many datapoints. */
  isPackedBefore(number: number, sequenceNumber: number): boolean {
    const first = this.#firstOf(number);
    return first !== undefined && this.#packed.head(first).sequenceNumber < sequenceNumber;
  }

  /** Puts all in order of their first rows again. */
  sort(): void {
    const rowOf = (held: Held): number => this.#headOf(held).firstRow;
    this.#held = new Map([...this.#held].sort(([, a], [, b]) => rowOf(a) - rowOf(b)));
  }

  /** Frees the memory of what is packed no more. */
  repack(): void {
    const before = this.#packed;
    this.#packed = new PackedPushes();
    for (const number of this.packed()) {
      const place = this.#firstOf(number) ?? 0;
      let first: number | undefined;
      for (const one of before.of(number, place)) first = this.#packed.add(first, one);
      if (first !== undefined) this.#held.set(number, first);
    }
  }

  /** The weight that each has outside chunks, but for what is on its way there. */
  weights(): ReadonlyMap<number, number> {
    const weightOf = (held: Held): number =>
      typeof held === 'number' ? this.#packed.weight(held) : held.memtableEntry.weight;
    return new Map([...this.#held].map(([number, held]) => [number, weightOf(held)]));
  }

  #unpacked(number: number): void {
    if (this.#firstOf(number) === undefined) return;
    this.#packedCount -= 1;
    if (this.#packedCount === 0) this.#packed = new PackedPushes();
  }

  #headOf(held: Held): Head {
    return typeof held === 'number' ? this.#packed.head(held) : held.memtableEntry;
  }

  #firstOf(number: number): number | undefined {
    const held = this.#held.get(number);
    return typeof held === 'number' ? held : undefined;
  }
}
