import { valueGroupOf, valueGroups } from '../../domain/members/member-store.ts';
import type { SharedSessions } from '../../domain/messaging/session-store.ts';
import type { Log } from '../../lib/log.ts';
import { untilDone } from './journal.ts';

/**
 * The groups of devices whose values sessions of this process may get: other processes write only
 * these to the log. More groups are stored before a subscription is acknowledged, fewer now and
 * then.
 */
export function createWantedValues(options: {
  readonly shared: Pick<SharedSessions, 'want'>;
  readonly log: Log;
}) {
  const { shared, log } = options;
  /** How many subscriptions there are to values of a group, and to those of all. */
  const counts = new Uint32Array(valueGroups);
  let ofAll = 0;
  /** The store has these, or more; undefined: it is not known which. */
  let known: string | undefined;
  let writing: Promise<void> | undefined;
  let isClosed = false;

  const wanted = (): string =>
    Array.from(counts, (count) => (count + ofAll > 0 ? '1' : '0')).join('');

  /** Whether the store has the groups of these filters, as far as they are still subscribed to. */
  const areStored = (filters: readonly string[]): boolean =>
    filters.every((filter) => {
      const device = deviceOfValues(filter);
      if (device === undefined) return true;
      if (device === '+') return ofAll === 0 || known?.includes('0') === false;
      const group = valueGroupOf(device);
      return counts[group] === 0 || known?.[group] === '1';
    });

  async function write(isAll: boolean): Promise<void> {
    let asked: string | undefined;
    await untilDone(
      () =>
        shared.want(() => {
          asked = wanted();
          // What is counted from now on may not be among these.
          if (isAll) known = undefined;
          return { groups: asked, isAll };
        }),
      (err) => {
        log.warn({ err }, 'other processes could not be told which values are wanted');
        asked = undefined;
        return isClosed || isAll;
      },
    );
    if (asked !== undefined) known = asked;
  }

  async function store(filters: readonly string[]): Promise<void> {
    while (!areStored(filters) && !isClosed) await start(false);
  }

  function start(isAll: boolean): Promise<void> {
    writing ??= write(isAll).finally(() => {
      writing = undefined;
    });
    return writing;
  }

  return {
    /** Counts a subscription, or one that ended. */
    count(filter: string, by: 1 | -1): void {
      const device = deviceOfValues(filter);
      if (device === undefined) return;
      if (device === '+') ofAll += by;
      else counts[valueGroupOf(device)] = (counts[valueGroupOf(device)] ?? 0) + by;
    },
    /** Resolves when the values that these filters include will come; undefined: they do. */
    stored: (filters: readonly string[]): Promise<void> | undefined =>
      areStored(filters) ? undefined : store(filters),
    /** Gives up what is wanted no longer. */
    async shrink(): Promise<void> {
      if (!isClosed) await start(true);
    },
    close(): void {
      isClosed = true;
    },
  };
}
export type WantedValues = ReturnType<typeof createWantedValues>;

/** The device of which a filter includes values; `+`: of many. Undefined: it includes none. */
export function deviceOfValues(filter: string): string | undefined {
  const levels = filter.split('/');
  const [first = '', device, kind] = levels[0] === '$share' ? levels.slice(2) : levels;
  if (first === '#') return '+';
  if ((first !== 'devices' && first !== '+') || device === undefined) return undefined;
  if (device === '#') return '+';
  return kind === 'sensors' || kind === '+' || kind === '#' ? device : undefined;
}
