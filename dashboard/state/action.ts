import { useState } from 'preact/hooks';
import { errorSentence } from '../api/error-sentence.ts';
import { t } from '../i18n/i18n.ts';

export interface Action {
  readonly isBusy: boolean;
  /** What went wrong last, as a sentence. */
  readonly error: string | undefined;
  /** Does the work once at a time; answers whether it was done. */
  readonly run: (work: () => Promise<unknown>) => Promise<boolean>;
  readonly fail: (sentence: string | undefined) => void;
}

/** Something that is sent to the service: busy while it is, and a sentence when it is refused. */
export function useAction(): Action {
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<string>();
  async function run(work: () => Promise<unknown>): Promise<boolean> {
    if (isBusy) return false;
    setBusy(true);
    setError(undefined);
    try {
      await work();
      return true;
    } catch (failure) {
      setError(errorSentence(failure, t));
      return false;
    } finally {
      setBusy(false);
    }
  }
  return { isBusy, error, run, fail: setError };
}
