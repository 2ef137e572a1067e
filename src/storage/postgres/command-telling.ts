import { setTimeout as wait } from 'node:timers/promises';
import type { Change } from '../../domain/changes.ts';
import { memberLimits } from '../../domain/members/member-limits.ts';
import { notify } from './member-connection.ts';
import { postgresLimits } from './postgres-limits.ts';
import type { Reader } from './reader.ts';
import { isShared } from './service-lock.ts';
import type { Work, Writer, WriteSession } from './writer.ts';

/** Commands write as writer 0: their changes have their place in the log, and no number. */
const insertAll = `
  insert into feed_log (writer, entry)
  select 0, entry from unnest($1::text[]) with ordinality as given (entry, at)
  order by at returning place`;
const findDeaf = `
  select 1 as found from members
  where state = 'serving' and coalesce((positions::json ->> '0')::bigint, 0) < $1 limit 1`;

/** A writer whose changes are published to services, by what came of them. */
export type TellingWriter = <Answer>(changesOf: (answer: Answer) => readonly Change[]) => Writer;

/**
 * Changes of a command are written for the services in the commit that makes them. The call
 * resolves when all services have acted, after a second at most: one that does not answer trusts
 * nothing that it remembers. A lone service gets no message, and asks for each credential anew.
 */
export function createTellingWriter(parts: {
  readonly writer: Writer;
  readonly reader: Reader;
  readonly textOf: (change: Change) => string;
}): TellingWriter {
  const { writer, reader, textOf } = parts;

  async function tell(tx: WriteSession, changes: readonly Change[]): Promise<number | undefined> {
    if (changes.length === 0 || !(await isShared(tx))) return undefined;
    const rows = await tx.all<{ place: number }>(insertAll, changes.map(textOf));
    tx.atEnd(notify);
    return rows.at(-1)?.place;
  }

  async function heardByAll(place: number): Promise<void> {
    const until = performance.now() + memberLimits.barrierMs;
    while (performance.now() < until) {
      if ((await reader.first(findDeaf, place)) === undefined) return;
      await wait(postgresLimits.commandLookMs);
    }
  }

  return (changesOf) => ({
    ...writer,
    async call<Answer>(work: Work<Answer>): Promise<Answer> {
      const { answer, place } = await writer.call(async (tx) => {
        const made = await work(tx);
        // A store calls once, and what it answers is what its method does.
        const changes = changesOf(made as Parameters<typeof changesOf>[0]);
        return { answer: made, place: await tell(tx, changes) };
      });
      // The change is made: that a service did not say so is no reason to fail.
      if (place !== undefined) await heardByAll(place).catch(() => undefined);
      return answer;
    },
  });
}
