import { setTimeout as wait } from 'node:timers/promises';
import {
  type Clock,
  createSteadyClock,
  latestBelieved,
  latestInstant,
  type SteadyClock,
} from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import type { Storage } from '../storage/storage.ts';

/** So long a start waits for a database that does not tell its time: the machine's may be wrong. */
const startMs = 10_000;
/** How often processes on one database ask for its time. */
const askMs = 10_000;
/** So soon until there was a quick answer. */
const askFirstMs = 1_000;
/** An answer that took longer counts where none was quicker, or where it proves the clock wrong. */
const answerMs = 500;

/**
 * The one clock of the service: never behind what is stored, and that of the database where
 * several processes serve it [contract 15]. `stop` ends its asking for the latter.
 */
export async function openServiceClock(options: {
  readonly machine: Clock;
  readonly engine: Pick<Storage, 'newestReceived' | 'members'>;
  readonly log: Log;
}): Promise<SteadyClock & { stop(): void }> {
  const { machine, engine, log } = options;
  const clock = createSteadyClock({ machine, log });
  const { members } = engine;
  let timer: NodeJS.Timeout | undefined;
  let quickestMs = Number.POSITIVE_INFINITY;

  async function ask(store: NonNullable<typeof members>): Promise<void> {
    const began = performance.now();
    try {
      const theirs = await store.now();
      const tookMs = performance.now() - began;
      const middle = theirs + tookMs / 2;
      const wrongBy = Math.abs(middle - machine.now() - clock.offsetMs());
      if (tookMs >= answerMs && tookMs >= quickestMs && wrongBy <= tookMs / 2) return;
      clock.follow(middle);
      quickestMs = Math.min(quickestMs, tookMs);
    } catch (error) {
      log.debug({ err: error }, 'the database did not tell its time');
    }
  }
  function askAgain(store: NonNullable<typeof members>): void {
    const pauseMs = quickestMs < answerMs ? askMs : askFirstMs;
    timer = setTimeout(() => void ask(store).then(() => askAgain(store)), pauseMs);
    timer.unref();
  }

  if (members !== undefined) {
    const giveUpAt = performance.now() + startMs;
    await ask(members);
    while (quickestMs === Number.POSITIVE_INFINITY && performance.now() < giveUpAt) {
      await wait(askFirstMs / 10).then(() => ask(members));
    }
    askAgain(members);
  }
  const newest = await newestBelieved(engine, latestBelieved(clock.now()), log);
  if (newest !== undefined) clock.keepFrom(newest);
  // Read once, so that warnings about the machine's clock come at the start.
  clock.now();
  return { ...clock, stop: () => clearTimeout(timer) };
}

/** When what is stored was received last, by a clock that may have been right [decision 0026]. */
async function newestBelieved(
  engine: Pick<Storage, 'newestReceived'>,
  believed: number,
  log: Log,
): Promise<number | undefined> {
  const found = await engine.newestReceived(latestInstant);
  if (found === undefined || found <= believed) return found;
  log.error(
    { received: new Date(found).toISOString() },
    'values are stored that were received years from now, by a clock that was wrong: they do not ' +
      'count for the time',
  );
  return engine.newestReceived(believed);
}
