import { useEffect, useRef } from 'preact/hooks';
import { ApiError } from '../api/api-error.ts';
import { isOnline } from './network.ts';

const firstPauseMs = 2_000;
const longestPauseMs = 30_000;

/** Whether no answer came, or the service is busy or starts: what is asked may be right. */
export const isBusy = (error: unknown): boolean =>
  error instanceof ApiError && [0, 429, 502, 503, 504].includes(error.status);

/** Whether the same request may go well later. */
export const mayPass = (error: unknown): boolean =>
  isBusy(error) || (error instanceof ApiError && error.status > 499);

/** How long to wait before an attempt, counted from 0: longer each time, up to half a minute. */
export const pauseMs = (attempt: number): number =>
  Math.min(longestPauseMs, firstPauseMs * 2 ** Math.min(attempt, 10));

/**
 * Tries again by itself what failed for a reason that passes: after growing pauses, and at once
 * when the network is back or somebody looks at the page again. A hidden page asks for nothing.
 */
export function useRecovery(error: unknown, retry: () => void): void {
  const attempts = useRef(0);
  const latest = useRef(retry);
  latest.current = retry;
  const online = isOnline.value;
  useEffect(() => {
    if (error === undefined) {
      attempts.current = 0;
      return;
    }
    if (!mayPass(error) || !online) return;
    const tryAgain = (): void => {
      if (document.visibilityState !== 'visible') return;
      attempts.current += 1;
      latest.current();
    };
    const timer = setTimeout(tryAgain, pauseMs(attempts.current));
    document.addEventListener('visibilitychange', tryAgain);
    return () => {
      clearTimeout(timer);
      document.removeEventListener('visibilitychange', tryAgain);
    };
  }, [error, online]);
}

/** Asks again every so often while the page is looked at, and when it is looked at again. */
export function useRefresh(everyMs: number | undefined, ask: () => void): void {
  useEffect(() => {
    if (everyMs === undefined) return;
    let askedAt = Date.now();
    const refresh = (): void => {
      if (document.visibilityState !== 'visible' || Date.now() - askedAt < everyMs / 2) return;
      askedAt = Date.now();
      ask();
    };
    const timer = setInterval(refresh, everyMs);
    document.addEventListener('visibilitychange', refresh);
    return () => {
      clearInterval(timer);
      document.removeEventListener('visibilitychange', refresh);
    };
  }, [everyMs, ask]);
}
