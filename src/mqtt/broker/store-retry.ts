import { mqttLimits } from '../limits.ts';

/** Waits before something is asked of the store again. */
export const retryPause = (): Promise<void> =>
  new Promise((resolve) => void setTimeout(resolve, mqttLimits.storeRetryMs).unref());

/** A service that stops cannot wait for ever for its store. */
export const finalAttemptsMax = 3;

/**
 * Does the work again until it succeeds, with a pause between attempts. `failed` is called with
 * each error; it answers whether to give up, and then the answer is undefined.
 */
export async function untilDone<Answer>(
  work: () => Promise<Answer>,
  failed: (error: unknown, attempt: number) => boolean,
): Promise<Answer | undefined> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      if (failed(error, attempt)) return undefined;
      await retryPause();
    }
  }
}
