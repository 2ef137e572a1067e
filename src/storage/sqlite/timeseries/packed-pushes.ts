import { weightOfBatch } from '../../../domain/datapoints/column-batch.ts';
import type { LoggedPush } from '../../chunks/datapoint-log.ts';
import { appendRows, noRows, viewRows } from './memtable-columns.ts';

/** A push, with its row of the log and how much the log had taken before it. */
export interface PackedPush {
  readonly push: LoggedPush;
  readonly row: number;
  readonly startedAt: number;
}

const none = -1;
/** Numbers of a push: places of others of its series, its datapoints, and what the log says. */
const [nextAt, latestAt, firstAt, countAt, weightAt, sequenceAt, lastAt, rowAt, startedAt] = [
  0, 1, 2, 3, 4, 5, 6, 7, 8,
];
const numbersOfPush = 9;

/**
 * Pushes of the log that nothing has asked for since the start: numbers in two arrays, a tenth of
 * what objects of their series take. Each series is known by the place of its first push.
 */
export class PackedPushes {
  readonly #rows = noRows();
  #numbers = new Float64Array(64 * numbersOfPush);
  #end = 0;

  /** Adds a push behind those of its series; answers the place of the first of them. */
  add(first: number | undefined, { push, row, startedAt: logged }: PackedPush): number {
    const { batch, sequenceNumber, last = none } = push;
    const place = this.#end;
    if (place === this.#numbers.length) {
      const grown = new Float64Array(2 * place);
      grown.set(this.#numbers);
      this.#numbers = grown;
    }
    const of = [none, place, this.#rows.count, batch.count, weightOfBatch(batch), sequenceNumber];
    this.#numbers.set([...of, last, row, logged], place);
    this.#end += numbersOfPush;
    appendRows(this.#rows, batch, 0, batch.count);
    if (first === undefined) return place;
    this.#numbers[this.#at(first, latestAt) + nextAt] = place;
    this.#numbers[first + latestAt] = place;
    return first;
  }

  /** Of the first push of a series: its row of the log, and what it begins with. */
  head(first: number) {
    return {
      firstRow: this.#at(first, rowAt),
      startedAt: this.#at(first, startedAt),
      sequenceNumber: this.#at(first, sequenceAt),
    };
  }

  weight(first: number): number {
    let weight = 0;
    for (let at = first; at !== none; at = this.#at(at, nextAt)) weight += this.#at(at, weightAt);
    return weight;
  }

  /** The pushes of a series in their order. */
  *of(series: number, first: number): Generator<PackedPush> {
    for (let at = first; at !== none; at = this.#at(at, nextAt)) {
      const begin = this.#at(at, firstAt);
      const batch = viewRows(this.#rows, begin, begin + this.#at(at, countAt));
      const last = this.#at(at, lastAt);
      const push = { series, sequenceNumber: this.#at(at, sequenceAt), batch };
      yield {
        push: last === none ? push : { ...push, last },
        row: this.#at(at, rowAt),
        startedAt: this.#at(at, startedAt),
      };
    }
  }

  #at(place: number, field: number): number {
    return this.#numbers[place + field] ?? 0;
  }
}
