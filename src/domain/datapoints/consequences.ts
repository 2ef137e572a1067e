import type { StoredPush } from './feed.ts';

/**
 * Receives what became durable, push by push and in order, with the datapoints that are new.
 * Answers what each push has to wait for before it is answered; undefined: nothing follows.
 */
export type Consequences = (
  pushes: readonly StoredPush[],
) => readonly (Promise<void> | undefined)[] | undefined;
