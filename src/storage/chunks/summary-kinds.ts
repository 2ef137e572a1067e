import {
  kindFiguresCount,
  kindStepsMax,
  kindsOfList,
  listOfKinds,
  type StretchKinds,
} from '../../domain/datapoints/stretch-kinds.ts';
import {
  type ByteSink,
  type ByteSource,
  DamagedBytesError,
  putVarint,
  takeCount,
} from './bytes.ts';
import { putIntegers, takeIntegers } from './integers.ts';
import { putNumbers, takeNumbers } from './numbers.ts';

type Kinds = readonly (StretchKinds | undefined)[];

/** Writes what is known of the kinds of numbers of those stretches that have both. */
export function putKinds(sink: ByteSink, kinds: Kinds): void {
  const sinks = { dense: sink, loose: sink };
  const found = kinds.flatMap((one, at) => (one === undefined ? [] : [{ at, one }]));
  const lists = found.map(({ one }) => listOfKinds(one));
  putVarint(sink, found.length);
  putIntegers(
    sink,
    Float64Array.from(found, ({ at }) => at),
  );
  putIntegers(
    sink,
    Float64Array.from(found, ({ one }) => one.steps.length),
  );
  for (let figure = 0; figure < kindFiguresCount; figure += 1) {
    putNumbers(
      sinks,
      Float64Array.from(lists, (list) => list[figure] ?? 0),
    );
  }
  const steps = found.flatMap(({ one }) => one.steps);
  putNumbers(
    sinks,
    Float64Array.from(steps, ([number]) => number),
  );
  putNumbers(
    sinks,
    Float64Array.from(steps, ([, text]) => text),
  );
}

/** Reads what `putKinds` wrote of so many stretches. */
export function takeKinds(source: ByteSource, count: number): Kinds {
  const sources = { dense: source, loose: source };
  const found = takeCount(source, count);
  const places = takeIntegers(source, found);
  const sizes = takeIntegers(source, found);
  if (sizes.some((size) => size > kindStepsMax)) throw new DamagedBytesError('too many steps');
  const columns = Array.from({ length: kindFiguresCount }, () => takeNumbers(sources, found));
  const all = sizes.reduce((sum, size) => sum + size, 0);
  const numbers = takeNumbers(sources, all);
  const texts = takeNumbers(sources, all);
  const kinds: (StretchKinds | undefined)[] = new Array(count).fill(undefined);
  let step = 0;
  for (const [one, place] of places.entries()) {
    const list = columns.map((column) => column[one] ?? 0);
    const end = step + (sizes[one] ?? 0);
    for (; step < end; step += 1) list.push(numbers[step] ?? 0, texts[step] ?? 0);
    const read = kindsOfList(list);
    if (read === undefined || !(place in kinds)) throw new DamagedBytesError('unknown kinds');
    kinds[place] = read;
  }
  return kinds;
}
