import type { DatapointColumns } from './datapoint-columns.ts';

/**
 * Summaries of stretches of datapoints that follow each other, column by column: of one sensor,
 * oldest first. Numbers are JSON numbers and text that is a number, in the order of time.
 */
export interface Stretches {
  readonly count: number;
  /** No datapoint of the stretch is earlier, and none is later: both ends may be one's time. */
  readonly starts: Float64Array;
  readonly ends: Float64Array;
  /** Datapoints; of them JSON numbers, and text that is a number. */
  readonly counts: Float64Array;
  readonly numbers: Float64Array;
  readonly textNumbers: Float64Array;
  /** Without meaning where there is no number. */
  readonly min: Float64Array;
  readonly max: Float64Array;
  /** NaN where numbers are too large to be added. */
  readonly sum: Float64Array;
  readonly first: Float64Array;
  readonly last: Float64Array;
  /** The sum of all steps upwards from one number to the next, and that of all downwards. */
  readonly rise: Float64Array;
  readonly fall: Float64Array;
  /** 1 where the first and the last datapoint are JSON numbers: `first` and `last`. */
  readonly hasNumbersAtEnds: Uint8Array;
  /** Of hours of which retention took the datapoints: those that have numbers of both kinds. */
  readonly kinds?: readonly (StretchKinds | undefined)[];
  /** Of hours of which retention took the datapoints, and of nothing else. */
  readonly edges?: readonly (StretchEdges | undefined)[];
}

/** Some stretches, from one to before another. */
export interface StretchRun {
  readonly stretches: Stretches;
  readonly from: number;
  readonly to: number;
}

/** Datapoints of a summarised read: as they are, or what they come to. */
export type SummarisedPart = DatapointColumns | StretchRun;
export const isStretchRun = (part: SummarisedPart): part is StretchRun => 'stretches' in part;

/** Numbers kept of an hour with three or more, so that its ends can still be judged. */
export interface StretchEdges {
  /** The second number, and the one before the last. */
  second: number;
  penult: number;
  /** Of the numbers between the ends: the first and the last that are no glitches; NaN: none. */
  from: number;
  to: number;
  /** The sum of the steps upwards from `from` to `to`, without those that begin at zero. */
  up: number;
  /** How often the counter began again there, and the sum of where, as far as above zero. */
  restarts: number;
  restartSum: number;
  /** Which of the first four are text, which no calibration changes: bits, the first the least. */
  texts: number;
}

/** Figures of the numbers of one kind; steps are between two successive ones of it. */
export interface KindFigures {
  min: number;
  max: number;
  /** NaN, as in what follows: more than a double holds. */
  sum: number;
  rise: number;
  fall: number;
}

/** How many steps there were between the kinds, and what they were between, added up. */
export interface KindSteps {
  count: number;
  numbers: number;
  texts: number;
}

/**
 * Of a stretch that has JSON numbers as well as text that is a number: each kind apart, since
 * calibration changes JSON numbers only [contract 6].
 */
export interface StretchKinds {
  readonly numbers: KindFigures;
  readonly texts: KindFigures;
  readonly isFirstText: boolean;
  isLastText: boolean;
  /** The first steps from one kind to the other, in pairs: a JSON number, and a text. */
  readonly steps: (readonly [number: number, text: number])[];
  /** The steps behind those. */
  readonly toTexts: KindSteps;
  readonly toNumbers: KindSteps;
}

/** Figures of both kinds together, before the next number. */
type Together = KindFigures & {
  readonly numbers: number;
  readonly textNumbers: number;
  readonly last: number;
  kinds?: StretchKinds;
};

/** An hour has as many where its values come by the minute. */
export const kindStepsMax = 60;

/** Adds a number to its kind, before it is added to all. With one kind alone nothing is kept. */
export function addToKinds(all: Together, number: number, isText: boolean): void {
  const own = isText ? all.textNumbers : all.numbers;
  const others = isText ? all.numbers : all.textNumbers;
  // Where both came before and nothing was kept, an earlier version had summed them up.
  if (all.kinds === undefined && own === 0 && others > 0) all.kinds = openKinds(all, !isText);
  if (all.kinds !== undefined) addNumber(all.kinds, { number, before: all.last, isText });
}

function addNumber(
  kinds: StretchKinds,
  { number, before, isText }: { number: number; before: number; isText: boolean },
): void {
  const own = isText ? kinds.texts : kinds.numbers;
  if (isText !== kinds.isLastText) addStep(kinds, { number, before, isText });
  else if (number > before) own.rise = finiteSum(own.rise, number - before);
  else own.fall = finiteSum(own.fall, before - number);
  own.min = Math.min(own.min, number);
  own.max = Math.max(own.max, number);
  own.sum = finiteSum(own.sum, number);
  kinds.isLastText = isText;
}

function addStep(
  kinds: StretchKinds,
  { number, before, isText }: { number: number; before: number; isText: boolean },
): void {
  const [numeral, text] = isText ? [before, number] : [number, before];
  if (kinds.steps.length < kindStepsMax) {
    kinds.steps.push([numeral, text]);
    return;
  }
  const steps = isText ? kinds.toTexts : kinds.toNumbers;
  steps.count += 1;
  steps.numbers = finiteSum(steps.numbers, numeral);
  steps.texts = finiteSum(steps.texts, text);
}

function finiteSum(one: number, other: number): number {
  const sum = one + other;
  return Number.isFinite(sum) ? sum : Number.NaN;
}

/** All until now are of one kind. */
function openKinds({ min, max, sum, rise, fall }: KindFigures, isText: boolean): StretchKinds {
  const own = { min, max, sum, rise, fall };
  const none = { min: Infinity, max: -Infinity, sum: 0, rise: 0, fall: 0 };
  const noSteps = (): KindSteps => ({ count: 0, numbers: 0, texts: 0 });
  return {
    ...{ numbers: isText ? none : own, texts: isText ? own : none },
    ...{ isFirstText: isText, isLastText: isText, steps: [] },
    ...{ toTexts: noSteps(), toNumbers: noSteps() },
  };
}

/** Both kinds together again, once the JSON numbers are shown as a calibration shows them. */
export function joinKinds(
  kinds: StretchKinds,
  shown: {
    readonly numbers: KindFigures;
    readonly real: (number: number) => number;
    /** Of so many JSON numbers with this sum. */
    readonly realSum: (count: number, sum: number) => number;
  },
): KindFigures {
  const { texts, toTexts, toNumbers, isFirstText } = kinds;
  const { numbers, real, realSum } = shown;
  const all = {
    ...{ min: Math.min(numbers.min, texts.min), max: Math.max(numbers.max, texts.max) },
    ...{ sum: finiteSum(numbers.sum, texts.sum) },
    ...{ rise: numbers.rise + texts.rise, fall: numbers.fall + texts.fall },
  };
  const add = (up: number): void => {
    if (up > 0) all.rise += up;
    else if (up < 0) all.fall -= up;
  };
  for (const [at, [number, text]] of kinds.steps.entries()) {
    const isToText = (at % 2 === 0) !== isFirstText;
    add(isToText ? text - real(number) : real(number) - text);
  }
  // As if all of one direction went the same way.
  add(toTexts.texts - realSum(toTexts.count, toTexts.numbers));
  add(realSum(toNumbers.count, toNumbers.numbers) - toNumbers.texts);
  return all;
}

/** How many figures come before the steps in the list of kinds. */
export const kindFiguresCount = 18;

/** Lists all figures of both kinds: as they are stored and exported. */
export function listOfKinds(kinds: StretchKinds): readonly number[] {
  const { numbers, texts, toTexts, toNumbers } = kinds;
  const figures = [numbers, texts].flatMap(({ min, max, sum, rise, fall }) => [
    ...[min, max, sum, rise, fall],
  ]);
  const steps = [toTexts, toNumbers].flatMap((one) => [one.count, one.numbers, one.texts]);
  const ends = [Number(kinds.isFirstText), Number(kinds.isLastText)];
  return [...figures, ...steps, ...ends, ...kinds.steps.flat()];
}

/** Where the list has what may be more than a double holds. */
const sumsInList: ReadonlySet<number> = new Set([2, 3, 4, 7, 8, 9, 11, 12, 14, 15]);

/** Reads what `listOfKinds` made; undefined for anything else. */
export function kindsOfList(list: readonly number[]): StretchKinds | undefined {
  const pairs = (list.length - kindFiguresCount) / 2;
  if (!Number.isInteger(pairs) || pairs < 1 || pairs > kindStepsMax) return undefined;
  if (list.some((one, at) => !Number.isFinite(one) && !sumsInList.has(at))) return undefined;
  const of = (at: number): number => list[at] ?? 0;
  const figuresAt = (at: number): KindFigures => ({
    ...{ min: of(at), max: of(at + 1), sum: of(at + 2), rise: of(at + 3), fall: of(at + 4) },
  });
  const stepsAt = (at: number): KindSteps => ({
    ...{ count: of(at), numbers: of(at + 1), texts: of(at + 2) },
  });
  return {
    ...{ numbers: figuresAt(0), texts: figuresAt(5) },
    ...{ toTexts: stepsAt(10), toNumbers: stepsAt(13) },
    ...{ isFirstText: of(16) === 1, isLastText: of(17) === 1 },
    steps: Array.from({ length: pairs }, (_, step) => {
      const at = kindFiguresCount + 2 * step;
      return [of(at), of(at + 1)] as const;
    }),
  };
}
