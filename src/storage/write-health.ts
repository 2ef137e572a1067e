import type { Log } from '../lib/log.ts';

/**
 * Logs when changes begin to be refused, and when they are taken again: what cannot be written
 * refuses thousands of changes a second.
 */
export function createWriteHealth(log: Log, place: string) {
  let isFailing = false;
  /** Notes the outcome of a change; `refusal`: why it was refused. */
  return (refusal?: Readonly<Record<string, unknown>>): void => {
    if ((refusal !== undefined) === isFailing) return;
    isFailing = refusal !== undefined;
    if (refusal !== undefined) log.error(refusal, `${place} refuses changes`);
    else log.warn({}, `${place} takes changes again`);
  };
}
