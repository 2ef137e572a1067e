import { randomBytes } from 'node:crypto';
import type pg from 'pg';
import { valueGroups } from '../../domain/members/wanted-values.ts';
import type { SqlSession, Value } from '../sql/session.ts';
import { inTransaction, sessionOn } from './connection.ts';
import { FencedError, newestTables, refuseNewer } from './migrate.ts';
import type { Parts } from './parts.ts';
import type { Serving } from './service-lock.ts';

/** The membership of this process among those that serve the database. */
export interface Membership {
  /** Of the member, and of its row in `writers`. */
  readonly id: number;
  /** Random: a number may be given again to another installation's process. */
  readonly name: string;
  /** The only connection of this member that may commit has this name: the newest one. */
  readonly connection: string;
}

export const replaced = 'another process of Kipimo serves this database now: stop this one';
const takeTurn = 'select 1 from writers where writer = 0 for update';
/** Waits for all commits under way: each locks the row of its writer. */
const lockWriters = 'select 1 from writers order by writer for update';
const lockPartWriters = 'update part_writers set seq = seq';
/** Log entries written before are in the data that it will load: positions begin behind them. */
const insertMember = `
  insert into members (positions, locks_rows, program, tables)
  select coalesce(json_object_agg(writer, place), '{}')::text, true, $1, $2
  from (select writer, max(place) as place from feed_log group by writer) as written
  returning member as id`;
const insertWriter = 'insert into writers (writer, member, seq) values ($1, $2, 0)';
/** No other process serves: the others have ended, also one that comes back from a long sleep. */
const deleteOthers = 'delete from members where member <> $1';
const dropLog = 'delete from feed_log';
/** A start alone evaluates again what was received last. */
const dropLooks = 'delete from looks';
const deleteOtherWriters = 'delete from writers where writer not in (0, $1)';
/** Members that ended before any that serves began: no process asks for them any more. */
const deleteLongGone = `
  delete from members where state <> 'serving' and not owns
    and member < (select min(member) from members where state = 'serving')
    and not exists (select from feed_log where writer = member)`;
const deleteTheirWriters = `
  delete from writers where writer <> 0 and writer not in (select member from members)`;
/**
 * A commit of its own: what a standby did not have when the connection was lost it has afterwards.
 * It waits for a commit of the connection before, and keeps it from making another one.
 */
const takeOver = `
  update writers set member = $2
  where writer = $1 and starts_with(member, $3) and not ended returning -1 as part, seq`;
const selectSeqs = 'select bucket as part, seq from part_writers where writer = $1';
const findOwn = `
  select 1 as found from writers where writer = $1 and starts_with(member, $2) and not ended`;
/** Frees the claims of a member: their deliveries are due at once, for the next claim. */
export const freeClaims = `
  update deliveries set due_at = created_at, claimed_by = null
  where claimed_by = $1 and status = 'pending'`;
const freeAllClaims = `
  update deliveries set due_at = created_at, claimed_by = null
  where claimed_by is not null and status = 'pending'`;
const leave = `update members set state = 'left' where member = $1 and state = 'serving'`;

/**
 * Makes this process a member, with a row of its own among those that count commits. `program`:
 * what it runs, for people.
 */
export async function join(
  client: pg.Client,
  { serving, program, parts }: { serving: Serving; program: string | undefined; parts: Parts },
): Promise<Membership> {
  const session = sessionOn(client);
  const name = randomBytes(16).toString('hex');
  const connection = `${name} 1`;
  return inTransaction(client, async () => {
    // First alone: the statement behind it finds the writers of those who joined meanwhile.
    await session.run(takeTurn);
    await session.run(lockWriters);
    if (parts.length > 0) await session.run(lockPartWriters);
    // A newer version may have come since this one looked.
    await refuseNewer(client);
    const row = await session.first<{ id: number }>(insertMember, program ?? '', newestTables);
    const id = row?.id ?? 0;
    await session.run(insertWriter, id, connection);
    if (serving === 'alone') {
      await session.run(dropLog);
      await session.run(dropLooks);
      await session.run(deleteOthers, id);
      await session.run(deleteOtherWriters, id);
      await session.run(freeAllClaims);
    } else {
      await session.run(deleteLongGone);
      await session.run(deleteTheirWriters);
    }
    return { id, name, connection };
  });
}

/** Throws FencedError when this process is none of those that serve any more. */
export async function checkMember(session: SqlSession, { id, name }: Membership): Promise<void> {
  if ((await session.first(findOwn, id, name)) === undefined) throw new FencedError(replaced);
}

/** Another connection of this member commits from now on; with the numbers of its last commits. */
export async function takeOverFor(
  session: SqlSession,
  { id, name, connection: before }: Membership,
  parts: Parts,
): Promise<{ readonly membership: Membership; readonly seqs: Map<number, number> }> {
  const connection = `${name} ${Number(before.slice(name.length)) + 1}`;
  const found = await session.first<Record<'part' | 'seq', number>>(takeOver, id, connection, name);
  if (found === undefined) throw new FencedError(replaced);
  const ofParts = parts.length > 0 ? await session.all<typeof found>(selectSeqs, id) : [];
  const seqs = new Map([found, ...ofParts].map(({ part, seq }) => [part, seq]));
  return { membership: { id, name, connection }, seqs };
}

/** Says good-bye: no process needs to notice that this one is gone. */
export async function sayGoodBye(client: pg.Client, { id }: Membership): Promise<void> {
  const session = sessionOn(client);
  await session.run(leave, id);
  await session.run(freeClaims, id);
}

/** The last place in the log that each of the others has committed, and commands. */
export const selectReached = `
  select writers.writer, last.place from writers cross join lateral (
    select max(place) as place from feed_log where feed_log.writer = writers.writer) as last
  where writers.writer <> $1 and last.place is not null`;

/**
 * Leaves places of the log out, more than can have been given by commits that a standby did not
 * have when it was promoted: who read these has a position that must be before what comes now.
 */
export const leavePlacesOut = `
  select max(nextval(pg_get_serial_sequence('feed_log', 'place'))) from generate_series(1, 4096)`;

/** A statement, and its values. */
type Statement = readonly [sql: string, ...values: Value[]];

const isOwnWriter = 'writer = $1 and member = $2 and not ended';
const sayWants = `update writers set wants = $3::bit(${valueGroups}) where ${isOwnWriter}`;
const fence = `update writers set seq = seq + 1 where ${isOwnWriter} and seq = $3`;
const fenceOfPart = `
  update part_writers set seq = seq + 1 where ${isOwnWriter} and seq = $3 and bucket = $4`;

/**
 * The statements of a commit of this member behind `begin`, in their order: for a change of the
 * control plane the commit lock of all processes, and the number, which changes one row unless the
 * process was replaced. Whether others serve is a question of its own: it sees who joined while
 * this commit waited. Beside versions that lock no rows every commit takes the lock.
 */
export function beginCommit(
  { id, connection }: Membership,
  last: number,
  { part, isControl, wants }: { part: number; isControl: boolean; wants: string | undefined },
): { readonly first: readonly Statement[]; readonly number: Statement } {
  return {
    // Writers before those of parts, as who joins locks them.
    first: [
      ...(isControl ? [[takeTurn] as const] : []),
      ...(wants === undefined ? [] : [[sayWants, id, connection, wants] as const]),
    ],
    number: part < 0 ? [fence, id, connection, last] : [fenceOfPart, id, connection, last, part],
  };
}

/**
 * Whether other processes serve, whether one of them locks no rows, and which values are wanted: by
 * this process as well, as another one adopts its sessions if it ends.
 */
export const selectOthers = (id: number): string => `
  select coalesce(bool_or(members.member <> ${id}), false) as others,
    coalesce(bool_or(members.member <> ${id} and state = 'serving' and not locks_rows), false)
      as older, bit_or(wants)::text as wants
  from members left join writers on writer = members.member where state = 'serving' or owns`;
