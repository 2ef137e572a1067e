import { setTimeout as wait } from 'node:timers/promises';
import type pg from 'pg';
import type { SqlSession } from '../sql/session.ts';
import { UnusableStorageError } from '../unusable-storage-error.ts';
import { sessionOn } from './connection.ts';
import { postgresLimits } from './postgres-limits.ts';

/** A process of the server: its id alone may be that of another one by now. */
export interface Backend {
  readonly pid: number;
  readonly since: string;
}

const key = `hashtext('kipimo service'), hashtext(current_schema())`;
const tryLock = (lock: string): string => `
  select ${lock}(${key}) as locked, pid, backend_start::text as since
  from pg_stat_activity where pid = pg_backend_pid()`;
const tryAlone = tryLock('pg_try_advisory_lock');
const tryShared = tryLock('pg_try_advisory_lock_shared');
/** Our own connection of before, whose end the server has not noticed. */
const endBackend = `
  select pg_terminate_backend(pid) from pg_stat_activity
  where pid = $1 and backend_start::text = $2`;
/**
 * Not in its commit, which may wait for the standby: ended then, it shows to other processes what
 * the standby does not have. Citus waits there for a worker that may be gone, and shows nothing.
 */
const endBesideOthers = `${endBackend}
  and (state = 'active' and query = 'commit'
    and wait_event_type is distinct from 'Extension') is not true`;
// Halves of the key are kept as numbers without a sign.
const findHolder = (mode: string): string => `
  select exists (
    select 1 from pg_locks where locktype = 'advisory' and granted and objsubid = 2
      and pid <> pg_backend_pid() and mode like '${mode}'
      and database = (select oid from pg_database where datname = current_database())
      and classid::bigint = hashtext('kipimo service')::bigint & 4294967295
      and objid::bigint = hashtext(current_schema())::bigint & 4294967295) as found`;

/** Whether a process serves the schema alone, or beside others that are set the same. */
export type Serving = 'alone' | 'shared';

/** The same of a command that changes what no service may use meanwhile. */
type Holding = Serving | 'command';

/**
 * Takes the lock for serving this schema, for as long as the connection lasts; waits a moment for a
 * process that just ended. `before`: the connection that held it for this process. Throws
 * UnusableStorageError while another process has it.
 */
export async function lockService(
  client: pg.Client,
  before: Backend | undefined,
  holding: Holding,
): Promise<Backend> {
  const giveUpAt = performance.now() + postgresLimits.lockWaitMs;
  const session = sessionOn(client);
  for (;;) {
    const tried = await session.first<Backend & { locked: boolean }>(
      holding === 'shared' ? tryShared : tryAlone,
    );
    const end = holding === 'shared' ? endBesideOthers : endBackend;
    if (before !== undefined) await session.all(end, before.pid, before.since);
    if (tried?.locked === true) return { pid: tried.pid, since: tried.since };
    if (performance.now() > giveUpAt) throw new UnusableStorageError(heldSentences[holding]);
    await wait(postgresLimits.retryMs);
  }
}

const heldSentences: Readonly<Record<Holding, string>> = {
  alone:
    'another process of Kipimo serves this database: stop it first, or set ' +
    'KIPIMO_PROCESSES=several for each of them',
  shared:
    'another process of Kipimo has this database for itself: stop it, or set ' +
    'KIPIMO_PROCESSES=several there as well; a kipimo move ends by itself',
  command: 'another process of Kipimo serves this database: stop it first',
};

/** Gives the lock back, before the connection ends. */
export async function unlockService(client: pg.Client): Promise<void> {
  await client.query(`select pg_advisory_unlock(${key})`);
}

/** Whether another service has the lock, or a command that needs the database alone. */
export async function isServed(session: SqlSession): Promise<boolean> {
  return (await session.first<{ found: boolean }>(findHolder('%')))?.found === true;
}

/** Whether several services may serve the schema: those read what is written for them. */
export async function isShared(session: Pick<SqlSession, 'first'>): Promise<boolean> {
  return (await session.first<{ found: boolean }>(findHolder('ShareLock')))?.found === true;
}
