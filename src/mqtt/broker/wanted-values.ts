import { valueGroupOf, valueGroups } from '../../domain/members/member-store.ts';
import type { SharedSessions } from '../../domain/messaging/session-store.ts';
import type { Log } from '../../lib/log.ts';
import { untilDone } from './journal.ts';

/**
 * The groups of devices whose values sessions of this process may get: other processes write only
 * these to the log. More groups are stored before a subscription is acknowledged; fewer now and
 * then, but not while sessions are being taken, whose subscriptions are known later.
 */
export function createWantedValues(options: {
  readonly shared: Pick<SharedSessions, 'want'>;
  readonly log: Log;
}) {
  const { shared, log } = options;
  /** How many subscriptions there are to values of a group, and to those of all. */
  const counts = new Uint32Array(valueGroups);
  let ofAll = 0;
  let beingTaken = 0;
  /** The store has these, or more; undefined: it is not known which. */
  let known: string | undefined;
  /** Whether the store may have more than these. */
  let mayBeMore = true;
  let writing: Promise<void> | undefined;
  let isClosed = false;

  const wanted = (): string =>
    Array.from(counts, (count) => (count + ofAll > 0 ? '1' : '0')).join('');

  function isStored(): boolean {
    for (let group = 0; group < valueGroups; group += 1) {
      if ((counts[group] ?? 0) + ofAll > 0 && known?.[group] !== '1') return false;
    }
    return true;
  }

  async function write(isShrinking: boolean): Promise<void> {
    let asked: string | undefined;
    await untilDone(
      () =>
        shared.want(() => {
          // What is counted from now on may not be among these.
          known = undefined;
          asked = wanted();
          mayBeMore = !isShrinking || beingTaken > 0;
          return { groups: asked, isAll: !mayBeMore };
        }),
      (err) => {
        log.warn({ err }, 'other processes could not be told which values are wanted');
        asked = undefined;
        return isClosed || isShrinking;
      },
    );
    known = asked;
  }

  async function settle(isShrinking: boolean): Promise<void> {
    do {
      await writing;
      writing ??= write(isShrinking).finally(() => {
        writing = undefined;
      });
      await writing;
    } while (!isClosed && !isShrinking && !isStored());
  }

  return {
    /** Counts a subscription, or one that ended. */
    count(filter: string, by: 1 | -1): void {
      const device = deviceOfValues(filter);
      if (device === undefined) return;
      if (device === '+') ofAll += by;
      else counts[valueGroupOf(device)] = (counts[valueGroupOf(device)] ?? 0) + by;
    },
    /** Resolves when the values of all subscriptions will come; undefined: they do already. */
    stored: (): Promise<void> | undefined => (isStored() ? undefined : settle(false)),
    /**
     * Called before sessions are taken; the answer, when their subscriptions are counted, with
     * whether any may have been taken.
     */
    taking(): (areAny: boolean) => void {
      beingTaken += 1;
      return (areAny) => {
        beingTaken -= 1;
        mayBeMore ||= areAny;
      };
    },
    /** Gives up what is wanted no longer; called now and then. */
    async shrink(): Promise<void> {
      if (writing !== undefined || beingTaken > 0) return;
      if (mayBeMore || known !== wanted()) await settle(true);
    },
    close(): void {
      isClosed = true;
    },
  };
}
export type WantedValues = ReturnType<typeof createWantedValues>;

/** The device of which a filter includes values; `+`: of many. Undefined: it includes none. */
export function deviceOfValues(filter: string): string | undefined {
  const [first = '', device, kind] = filter.split('/');
  if (first === '#') return '+';
  if ((first !== 'devices' && first !== '+') || device === undefined) return undefined;
  if (device === '#') return '+';
  return kind === 'sensors' || kind === '+' || kind === '#' ? device : undefined;
}
