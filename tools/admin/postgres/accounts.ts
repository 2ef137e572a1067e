import { setTimeout as wait } from 'node:timers/promises';
import type pg from 'pg';
import type { Change } from '../../../src/domain/changes.ts';
import { memberLimits } from '../../../src/domain/members/member-limits.ts';
import { silentReporter } from '../../../src/domain/reporter.ts';
import {
  changesOfKeyRemoval,
  changesOfPassword,
  changesOfUpdate,
} from '../../../src/domain/users/account-changes.ts';
import type { UserStore } from '../../../src/domain/users/user.ts';
import { silentLog } from '../../../src/lib/log.ts';
import { createKeyedSequence } from '../../../src/lib/scheduling/payer-queues.ts';
import { createDamagedRows } from '../../../src/storage/faults.ts';
import { createSender, sessionOn } from '../../../src/storage/postgres/connection.ts';
import { asRefusal } from '../../../src/storage/postgres/failures.ts';
import { notifyWithin } from '../../../src/storage/postgres/member-connection.ts';
import { commitWhole, type Parts, readParts } from '../../../src/storage/postgres/parts.ts';
import { postgresLimits } from '../../../src/storage/postgres/postgres-limits.ts';
import { createReader, type Reader } from '../../../src/storage/postgres/reader.ts';
import { isShared } from '../../../src/storage/postgres/service-lock.ts';
import { sharedContext } from '../../../src/storage/postgres/store-context.ts';
import type { Work, Writer, WriteSession } from '../../../src/storage/postgres/writer.ts';
import { createCredentialStore } from '../../../src/storage/sql/credentials.ts';
import { createUserStore } from '../../../src/storage/sql/users.ts';
import type { AccountStorage } from '../../../src/storage/storage.ts';
import { connectForCommand } from './command-opening.ts';

/** Commands write as writer 0: their changes have their place in the log, and no number. */
const insertAll = `
  insert into feed_log (writer, entry)
  select 0, entry from unnest($1::text[]) with ordinality as given (entry, at)
  order by at returning place`;
const findDeaf = `
  select 1 as found from members
  where state = 'serving' and coalesce((positions::json ->> '0')::bigint, 0) < $1 limit 1`;

/** A writer whose changes are published to services, by what came of them. */
type TellingWriter = <Answer>(changesOf: (answer: Answer) => readonly Change[]) => Writer;

/**
 * Changes of a command are written for the services in the commit that makes them. The call
 * resolves when all services have acted, after a second at most: one that does not answer trusts
 * nothing that it remembers. A lone service gets no message, and asks for each credential anew.
 */
function createTellingWriter(parts: {
  readonly writer: Writer;
  readonly reader: Reader;
  readonly textOf: (change: Change) => string;
}): TellingWriter {
  const { writer, reader, textOf } = parts;

  async function tell(tx: WriteSession, changes: readonly Change[]): Promise<number | undefined> {
    if (changes.length === 0 || !(await isShared(tx))) return undefined;
    const rows = await tx.all<{ place: number }>(insertAll, changes.map(textOf));
    tx.atEnd(notifyWithin);
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

/**
 * Waits until the commit of a service that is being made has ended; the next one waits for this
 * one. The number of the service's commits stays as it is.
 */
const takeTurn = 'begin; select seq from writers where writer = 0 for update';

/** Changes of a command, each a commit of its own, beside a service or without one. */
function createCommandWriter(client: pg.Client, parts: Parts): Writer {
  const inOrder = createKeyedSequence();

  async function commit<Answer>(work: Work<Answer>): Promise<Answer> {
    try {
      await client.query(takeTurn);
      const ends: Parameters<WriteSession['atEnd']>[] = [];
      const session = sessionOn(client);
      const { send, arrived } = createSender(session);
      const atEnd: WriteSession['atEnd'] = (...end) => void ends.push(end);
      const others = () => undefined;
      const answer = await work({ ...session, send, atEnd, others, news: () => undefined });
      for (const end of ends) send(...end);
      if (parts.length > 0) send(commitWhole);
      await arrived();
      await client.query('commit');
      return answer;
    } catch (error) {
      // Only a connection that is lost during the commit leaves open whether it was made.
      await client.query('rollback').catch(() => undefined);
      throw asRefusal(error);
    }
  }

  return {
    parts,
    call: (work) => inOrder('', () => commit(work)),
    async close() {
      await inOrder.drain();
      await client.end();
    },
  };
}

type Outcome = Awaited<ReturnType<UserStore['setPassword']>>;

/**
 * Opens users and credentials of a database, for a command; a service may run on it meanwhile.
 * `makes`: an empty database gets its tables. Throws UnusableStorageError when a person has to mend
 * something.
 */
export async function openAccounts(
  url: string,
  options: {
    readonly makes: boolean;
    /** The text by which a change is published to services. */
    readonly textOf: (change: Change) => string;
  },
): Promise<AccountStorage> {
  const { makes, textOf } = options;
  const client = await connectForCommand(url, { makes });
  const writer = createCommandWriter(client, await readParts(client));
  const reader = createReader(url, silentLog);
  const damaged = createDamagedRows({ log: silentLog, reporter: silentReporter });
  const context = { reader, writer, damaged };
  const told = createTellingWriter({ ...context, textOf });
  const usersBy = (by: Writer) =>
    createUserStore(sharedContext({ ...context, writer: by }), () => undefined);
  const credentialsBy = (by: Writer) =>
    createCredentialStore(sharedContext({ ...context, writer: by }));
  return {
    users: {
      ...usersBy(writer),
      update(id, changes) {
        const telling = told<'updated' | 'missing'>((outcome) =>
          outcome === 'missing' ? [] : changesOfUpdate(id, changes),
        );
        return usersBy(telling).update(id, changes);
      },
      setPassword(id, passwordHash, ends) {
        const telling = told<Outcome>((outcome) => changesOfPassword(id, outcome));
        return usersBy(telling).setPassword(id, passwordHash, ends);
      },
    },
    credentials: {
      ...credentialsBy(writer),
      removeKey(userId, keyId) {
        const telling = told<'removed' | 'missing'>((outcome) =>
          outcome === 'missing' ? [] : changesOfKeyRemoval(userId, keyId),
        );
        return credentialsBy(telling).removeKey(userId, keyId);
      },
    },
    async close() {
      await reader.close();
      await writer.close();
    },
  };
}
