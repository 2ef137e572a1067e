import { useCallback, useRef } from 'preact/hooks';
import { ApiError } from '../api/api-error.ts';
import { useRefresh } from './recovery.ts';
import { api } from './session.ts';

/** How often it is asked, in ms. */
const askMs = 4_000;

/** Whether something is not there, or is not for whoever asks. */
export const isRefused = (error: unknown): error is ApiError =>
  error instanceof ApiError && (error.status === 403 || error.status === 404);

/**
 * Calls back when what is at a path of the API was deleted, or is no longer shared, while it is
 * shown. An answer has no body: asking costs little. No path: nothing is asked.
 */
export function useStillThere(path: string | undefined, onGone: () => void): void {
  const latest = useRef(onGone);
  latest.current = onGone;
  const ask = useCallback(() => {
    if (path === undefined) return;
    api.request({ method: 'HEAD', path }).catch((error: unknown) => {
      if (isRefused(error)) latest.current();
    });
  }, [path]);
  useRefresh(path === undefined ? undefined : askMs, ask);
}
