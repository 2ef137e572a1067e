import type { Instant } from '../../lib/clock.ts';
import type { Payer } from '../budgets/budget.ts';
import type { DomainError } from '../errors.ts';
import { limits } from '../limits.ts';

/** An element of an array that was refused. */
interface RefusedElement {
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
interface RefusedKind {
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

/** Problems of a push, as plainly as its sender may learn them. */
export const pushProblems = [
  'no_key',
  'wrong_key',
  'not_allowed',
  'unknown_device',
  'unknown_sensor',
  'wrong_path',
  'unreadable',
  'clock_ahead',
  'too_large',
  'too_often',
  'no_room',
  'unavailable',
] as const;
export type PushProblem = (typeof pushProblems)[number];

/** A refused push, or several alike; of its content what sentences and elements quote. */
export interface RefusedPush {
  /** The last time. */
  readonly at: Instant;
  readonly problem: PushProblem;
  readonly via: 'http' | 'mqtt';
  /** As the sender spelt them; absent: the refusal came before anything was named. */
  readonly deviceId?: string;
  readonly sensorId?: string;
  readonly count: number;
  /** Where it was sent the last time, by path or topic, and the sentence of its refusal. */
  readonly path?: string;
  readonly description?: string;
  /** How the refused body or payload began the last time. */
  readonly excerpt?: string;
  /** Of an array whose other elements may have been stored: the first that were refused. */
  readonly elements?: readonly RefusedElement[];
}

export type NewRefusal = Omit<RefusedPush, 'count'> & { readonly count?: number };

/** Sender of a push: the payer of what they do elsewhere, and whether that is the owner. */
export interface Sender {
  readonly payer: Payer;
  readonly isOwner: boolean;
}

/** A page of one owner: a device, or what was sent to none. */
interface PageName {
  readonly owner: string;
  readonly name: string;
}

/** Refusals of one sender on one page. */
interface Sheet {
  readonly page: PageName;
  readonly payer: Payer;
  refusals: readonly RefusedPush[];
  bytes: number;
}

/** The sheets of one sender, those written last at the end. */
interface Writer {
  readonly payer: Payer;
  readonly sheets: Set<Sheet>;
  bytes: number;
}

interface Page {
  own: Sheet | undefined;
  /** Sheets of other senders, the last written at the end. */
  readonly others: Map<Payer, Sheet>;
}

const sheetBytes = 400;
const refusalBytes = 200;

/**
 * The last refusals, by owner and page; in memory alone. What is alike is counted, so that a flood
 * of one kind hides no other. Each sender writes on sheets of its own and forgets the own oldest
 * ones first: pushes of one sender never hide what was wrong with those of another.
 */
export function createRefusalBook(limits: {
  /** Kinds of what one sender wrote on one page. */
  readonly perSheetMax: number;
  /** Senders of one page beside its owner. */
  readonly sheetsPerPageMax: number;
  readonly bytesPerSenderMax: number;
  readonly bytesMax: number;
}) {
  // By the username in lower case.
  const owners = new Map<string, Map<string, Page>>();
  const writers = createWriters();
  let bytes = 0;

  function pageOf({ owner, name }: PageName): Page {
    const pages = owners.get(owner) ?? new Map<string, Page>();
    owners.set(owner, pages);
    const page = pages.get(name) ?? { own: undefined, others: new Map() };
    pages.set(name, page);
    return page;
  }

  function drop(sheet: Sheet): void {
    const { owner, name } = sheet.page;
    const pages = owners.get(owner);
    const page = pages?.get(name);
    if (page?.own === sheet) page.own = undefined;
    if (page?.others.get(sheet.payer) === sheet) page.others.delete(sheet.payer);
    if (page !== undefined && page.own === undefined && page.others.size === 0) pages?.delete(name);
    if (pages?.size === 0) owners.delete(owner);
    bytes -= sheet.bytes;
    writers.drop(sheet);
  }

  /** The sheet of a sender on a page, the newest of both from now on. */
  function open(where: PageName, { payer, isOwner }: Sender): Sheet {
    const page = pageOf(where);
    const known = isOwner ? page.own : page.others.get(payer);
    const sheet = known ?? { page: where, payer, refusals: [], bytes: 0 };
    if (isOwner) {
      page.own = sheet;
    } else {
      page.others.delete(payer);
      page.others.set(payer, sheet);
    }
    return sheet;
  }

  return {
    /** Writes it on the sender's sheet of a page. */
    write(owner: string, name: string, sender: Sender, refusal: NewRefusal): void {
      const where = { owner: owner.toLowerCase(), name };
      const sheet = open(where, sender);
      const alike = sheet.refusals.find((one) => isAlike(one, refusal));
      const others = sheet.refusals.filter((one) => one !== alike);
      sheet.refusals = [
        ...others,
        { ...refusal, count: (alike?.count ?? 0) + (refusal.count ?? 1) },
      ].slice(-limits.perSheetMax);
      const size = sizeOf(name, sheet.refusals);
      bytes += size - sheet.bytes;
      const writer = writers.put(sheet, size);
      const [oldest] = pageOf(where).others.values();
      const isCrowded = pageOf(where).others.size > limits.sheetsPerPageMax;
      if (isCrowded && oldest !== undefined) drop(oldest);
      while (writer.bytes > limits.bytesPerSenderMax) drop(oldestOf(writer));
      while (bytes > limits.bytesMax) {
        const largest = writers.largest();
        if (largest === undefined) break;
        drop(oldestOf(largest));
      }
    },
    /** Reads the refusals of the owner and of others; each oldest first. */
    read(owner: string, name: string) {
      const page = owners.get(owner.toLowerCase())?.get(name);
      const others = [...(page?.others.values() ?? [])].flatMap(({ refusals }) => refusals);
      return {
        own: page?.own?.refusals ?? [],
        others: others.toSorted((one, other) => one.at - other.at),
      };
    },
    /** Approximate memory of the book, in bytes. */
    get bytes() {
      return bytes;
    },
  };
}

function oldestOf({ sheets, payer }: Writer): Sheet {
  const [sheet] = sheets;
  if (sheet === undefined) throw new Error(`${payer} has bytes and no sheet`);
  return sheet;
}

/** Indexes writers by how much they wrote: the largest is found at once. */
function createWriters() {
  const writers = new Map<Payer, Writer>();
  /** By the power of two that their bytes have reached; who wrote last is at the end. */
  const levels = new Map<number, Set<Writer>>();
  const levelOf = ({ bytes }: Writer): number => 31 - Math.clz32(bytes);

  function leave(writer: Writer): void {
    const level = levels.get(levelOf(writer));
    level?.delete(writer);
    if (level?.size === 0) levels.delete(levelOf(writer));
  }

  function enter(writer: Writer): void {
    const level = levels.get(levelOf(writer)) ?? new Set();
    levels.set(levelOf(writer), level.add(writer));
  }

  return {
    /** The sheet, which has so many bytes now, is the newest of its writer. */
    put(sheet: Sheet, bytes: number): Writer {
      const { payer } = sheet;
      const writer = writers.get(payer) ?? { payer, sheets: new Set<Sheet>(), bytes: 0 };
      writers.set(payer, writer);
      leave(writer);
      writer.sheets.delete(sheet);
      writer.sheets.add(sheet);
      writer.bytes += bytes - sheet.bytes;
      sheet.bytes = bytes;
      enter(writer);
      return writer;
    },
    drop(sheet: Sheet): void {
      const writer = writers.get(sheet.payer);
      if (writer === undefined || !writer.sheets.delete(sheet)) return;
      leave(writer);
      writer.bytes -= sheet.bytes;
      if (writer.sheets.size === 0) writers.delete(sheet.payer);
      else enter(writer);
    },
    /** Finds the writer in the highest level that wrote least recently. */
    largest(): Writer | undefined {
      const [writer] = levels.get(Math.max(...levels.keys())) ?? [];
      return writer;
    },
  };
}

/** Whether both are one kind of refusal, of any senders. */
export const isAlike = (one: RefusedPush, other: NewRefusal): boolean =>
  one.problem === other.problem &&
  one.via === other.via &&
  one.deviceId === other.deviceId &&
  one.sensorId === other.sensorId &&
  (one.elements === undefined) === (other.elements === undefined);

/** Two bytes for each character, and what objects take around them. */
function sizeOf(name: string, refusals: readonly RefusedPush[]): number {
  const texts = refusals.reduce(
    (sum, { deviceId, sensorId, path, description: sentence, excerpt: shown, elements = [] }) =>
      elements.reduce(
        (bytes, { description, excerpt }) => bytes + 50 + description.length + excerpt.length,
        [deviceId, sensorId, path, sentence, shown].reduce(
          (length, text) => length + (text?.length ?? 0),
          sum,
        ),
      ),
    name.length,
  );
  return sheetBytes + refusals.length * refusalBytes + 2 * texts;
}
