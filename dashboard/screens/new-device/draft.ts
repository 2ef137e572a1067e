import { signal } from '@preact/signals';
import { idFromName } from '../../api/id-check.ts';
import { username } from '../../state/session.ts';

/** What is said of new devices, until they are made. */
export interface Draft {
  readonly name: string;
  readonly id: string;
  readonly visibility: 'public' | 'private';
  /** Ids of the usual sensors that were tapped. */
  readonly sensors: readonly string[];
  readonly other: string;
  /** The unit of that other one. */
  readonly otherUnit: string;
  /** How many of the same kind, as typed. */
  readonly count: string;
}

const storageKey = 'kipimo.new-device';
export const countMax = 50;

const empty = (): Draft => ({
  ...{ name: '', id: '', sensors: [], other: '', otherUnit: '', count: '1' },
  // What a guest makes is public, whatever is asked [contract 4].
  visibility: username.value === undefined ? 'public' : 'private',
});

/** The draft outlives its screen: going back on a phone must not lose what was typed. */
export const draft = signal<Draft>(empty());
/** The ids of what was made of the draft, kept with it. */
export const made = signal<readonly string[]>([]);
/** The id that was asked for when the network broke off: nobody knows whether it is made. */
export const doubtful = signal<string | undefined>(undefined);

let writer = username.peek();
username.subscribe((now) => {
  // The draft of a guest is taken along into the account; that of an account is nobody else's.
  if (writer !== undefined && now !== writer) clearDraft();
  writer = now;
});

/** Takes up the draft of before, in the same tab. */
export function readDraft(): void {
  const kept = readKept();
  draft.value = { ...empty(), ...kept };
}

export function writeDraft(next: Draft): void {
  draft.value = next;
  try {
    sessionStorage.setItem(storageKey, JSON.stringify(next));
  } catch {
    // Storage may be forbidden; the draft then lives as long as the page.
  }
}

export function clearDraft(): void {
  made.value = [];
  doubtful.value = undefined;
  writeDraft(empty());
}

function readKept(): Partial<Draft> {
  try {
    const kept: unknown = JSON.parse(sessionStorage.getItem(storageKey) ?? 'null');
    // Written by the function above, in this tab.
    return typeof kept === 'object' && kept !== null ? (kept as Partial<Draft>) : draft.peek();
  } catch {
    return draft.peek();
  }
}

/** The number of devices; undefined for what is none. */
export function countOf({ count }: Draft): number | undefined {
  const number = Number(count.trim() === '' ? '1' : count);
  return Number.isInteger(number) && number >= 1 && number <= countMax ? number : undefined;
}

/** The ids and names of the devices that a draft stands for. */
export function devicesOf(
  { id, name }: Draft,
  count: number,
): readonly {
  readonly id: string;
  readonly name: string;
}[] {
  const own = name.trim();
  if (count === 1) return [{ id, name: own }];
  return Array.from({ length: count }, (_, index) => ({
    id: `${id}-${index + 1}`,
    name: own === '' ? '' : `${own} ${index + 1}`,
  }));
}

/** The next id that nobody has: pond, pond-2, pond-3. */
export async function freeId(
  wanted: string,
  isFree: (id: string) => Promise<boolean>,
): Promise<string | undefined> {
  for (let number = 1; number <= triesMax; number += 1) {
    const id = number === 1 ? wanted : `${wanted}-${number}`;
    if (await isFree(id)) return id;
  }
  return undefined;
}

const triesMax = 12;

/** Whether the id is what the name makes of itself. */
export const isOwnId = ({ id, name }: Draft): boolean => id !== '' && id !== idFromName(name);
