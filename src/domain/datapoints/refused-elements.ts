import type { DomainError } from '../errors.ts';
import { limits } from '../limits.ts';

/** An element of an array that was refused. */
export interface RefusedElement {
  /** From 0. */
  readonly index: number;
  /** The sentence of the refusal. */
  readonly description: string;
  /** The beginning of what was read. */
  readonly excerpt: string;
}

/** The first characters of what was refused, without half of one at the end. */
export const shorten = (text: string): string =>
  text.trim().slice(0, limits.refusedExcerptMax).toWellFormed();

/** Elements that were refused for the same reason: how many, and the first of them. */
export interface RefusedKind {
  readonly refusal: DomainError;
  readonly elements: readonly RefusedElement[];
  readonly count: number;
}

/**
 * Elements of one array that are refused while the others are stored [contract 15]. Memory is
 * bounded by the kinds of refusals, however many elements there are.
 */
export class RefusedElements {
  count = 0;
  /** The refusal of the whole array, when nothing of it can be stored. */
  first: DomainError | undefined;
  readonly #kinds = new Map<string, RefusedKind & { elements: RefusedElement[]; count: number }>();
  /** Datapoints before the first element that a reader refused; those behind it are moved. */
  #unmoved = Number.POSITIVE_INFINITY;
  readonly #places: number[] = [];
  /** Positions among the readable ones of those that were refused later. */
  readonly #refused = new Set<number>();

  add(index: number, refusal: DomainError, excerpt: () => string): void {
    this.count += 1;
    if (this.first === undefined) {
      this.first = refusal;
      causes.set(refusal, this);
    }
    const name = `${refusal.name} ${refusal.code}`;
    const kind = this.#kinds.get(name) ?? { refusal, elements: [], count: 0 };
    this.#kinds.set(name, kind);
    kind.count += 1;
    if (kind.elements.length >= limits.refusalsPerBulkMax) return;
    const element = { index, description: refusal.message, excerpt: shorten(excerpt()) };
    kind.elements.push(element);
  }

  /** Remembers where the datapoint at `position` stood, once elements before it were refused. */
  place(position: number, index: number): void {
    if (position === index) return;
    this.#unmoved = Math.min(this.#unmoved, position);
    this.#places.push(index);
  }

  /** The index among all elements of the datapoint at `position` among the readable ones. */
  indexOf(position: number): number {
    if (position < this.#unmoved) return position;
    return this.#places[position - this.#unmoved] ?? position;
  }

  /** Refuses what was readable. */
  refuse(position: number, refusal: DomainError, excerpt: () => string): void {
    this.#refused.add(position);
    this.add(this.indexOf(position), refusal, excerpt);
  }

  /** Whether the datapoint at this position among the readable ones was refused. */
  has(position: number): boolean {
    return this.#refused.has(position);
  }

  kinds(): readonly RefusedKind[] {
    return [...this.#kinds.values()];
  }
}

const causes = new WeakMap<object, RefusedElements>();

/** The elements of the array that was refused as a whole by this error. */
export function refusedElementsOf(error: unknown): RefusedElements | undefined {
  if (!(error instanceof Error)) return undefined;
  // Version 1 says refusals in its own words: its error has this one as its cause.
  return causes.get(error) ?? refusedElementsOf(error.cause);
}
