import type { FeedLog } from '../domain/members/feed-log.ts';
import { memberLimits } from '../domain/members/member-limits.ts';
import { createBreather } from '../lib/event-loop.ts';
import type { Log } from '../lib/log.ts';
import { createHeldBack } from './held-back.ts';

/** Reads entries of other processes, one attempt at a time. */
export function createLogReading(options: {
  readonly shared: FeedLog;
  /** Never rejects. */
  readonly act: (text: string) => Promise<void>;
  /** Resolves when what was acted on is done; when it rejects it is called again. */
  readonly acted: () => Promise<void>;
  /** Runs before each read attempt. */
  readonly first: () => Promise<void>;
  readonly log: Log;
}) {
  const { shared, act, acted, first, log } = options;
  /** Work that is done here in the order of all commits. */
  const held = createHeldBack({ before: shared.before, look: () => void look(), log });
  let heardAt = Number.NEGATIVE_INFINITY;
  let tidiedAt = performance.now();
  let looking: Promise<void> | undefined;
  let isAskedAgain = false;
  let isUnsettled = false;
  let isResting = false;
  let isOver = false;

  async function readAll(): Promise<void> {
    await first();
    if (isUnsettled) await settle();
    while (!isResting) {
      const askedAt = performance.now();
      const [before, waiting] = [shared.before(), held.count()];
      const entries = await shared.read();
      const breathe = createBreather();
      for (const { text, place } of entries) {
        if (isResting) return;
        isUnsettled = true;
        await act(text);
        held.actedOn(place);
        const pause = breathe();
        if (pause !== undefined) await pause;
      }
      if (entries.length > 0) await settle();
      // Not only where there was none: beside others who write all the time, and over a slow link,
      // there always is one.
      if (entries.length < shared.entriesPerRead) {
        heardAt = askedAt;
        held.actedOn(before, waiting);
        break;
      }
    }
    if (performance.now() - tidiedAt < memberLimits.logTidyMs) return;
    tidiedAt = performance.now();
    await shared.tidy();
  }

  async function settle(): Promise<void> {
    await acted();
    if (isResting) return;
    await shared.acknowledge();
    isUnsettled = false;
  }

  /** Resolves when the read attempt under way has ended; another one follows it then. */
  function look(): Promise<void> {
    if (looking !== undefined) {
      isAskedAgain = true;
      return looking;
    }
    looking = Promise.resolve()
      .then(readAll)
      .catch((error: unknown) => log.debug({ err: error }, 'other processes could not be heard'))
      .finally(() => {
        looking = undefined;
        if (!isAskedAgain || isOver) return;
        isAskedAgain = false;
        void look();
      });
    return looking;
  }

  return {
    ...{ look, held },
    /** Whether earlier entries of others were acted on: false when they were unreadable. */
    async heard(): Promise<boolean> {
      const askedAt = performance.now();
      // The read attempt under way may have begun before.
      await look();
      await looking;
      return heardAt >= askedAt;
    },
    /** Whether the log was read to its end within the last second. */
    isCurrent: (): boolean => performance.now() - heardAt < memberLimits.trustMs,
    /** From now on nothing is acted on, or counts as acted on. */
    rest(): void {
      isResting = true;
      held.rest();
    },
    async end(): Promise<void> {
      isOver = true;
      await looking;
    },
  };
}
