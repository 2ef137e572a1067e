import { sqlStateOf } from '../failures.ts';

/** Data or indexes that are corrupted, files that cannot be read, values that are none. */
const isOfStored = /^(XX|58|22)/;

/**
 * The server's message about something that it cannot read, for a sentence. Throws any other error:
 * a server that is away is no damage.
 */
export function reasonOfDamage(error: unknown): string {
  const said = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  if (!(said instanceof Error) || !isOfStored.test(sqlStateOf(said) ?? '')) throw error;
  return said.message;
}
