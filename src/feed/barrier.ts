import type { FeedLog, LogPosition } from '../domain/members/feed-log.ts';
import { memberLimits } from '../domain/members/member-limits.ts';

/** Waits until processes that serve have acted on an entry of the log. */
export function createBarrier(shared: Pick<FeedLog, 'isHeard'>) {
  const waiting = new Set<() => void>();
  let isOver = false;
  const news = (): void => {
    for (const done of waiting) done();
  };
  return {
    /** A process may have acted on an entry. */
    news,
    /** Resolves when all have acted on it, or `by` alone, or after a second, or at the end. */
    async heard(position: LogPosition, by?: number): Promise<void> {
      const until = performance.now() + memberLimits.barrierMs;
      while (performance.now() < until && !isOver) {
        const next = nextNews(waiting, Math.min(memberLimits.logLookMs, until - performance.now()));
        if (await shared.isHeard(position, by).catch(() => false)) return;
        await next;
      }
    },
    /** Ends all waiting. */
    end(): void {
      isOver = true;
      news();
    },
  };
}

/** Resolves at the next news, which calls all that wait, or after so long. */
function nextNews(waiting: Set<() => void>, ms: number): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(patience);
      waiting.delete(done);
      resolve();
    };
    const patience = setTimeout(done, Math.max(0, ms));
    waiting.add(done);
  });
}
