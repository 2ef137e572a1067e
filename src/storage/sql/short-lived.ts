import { parseUserId, type UserId } from '../../domain/ids.ts';
import { limits } from '../../domain/limits.ts';
import type { CallText, CallTextStore } from '../../domain/notifications/channel.ts';
import type { FailureStore, KeptFailures } from '../../domain/users/failure-limiters.ts';
import type { PasswordResetStore, PendingReset } from '../../domain/users/password-resets.ts';
import type { SqlContext, Writes } from './session.ts';
import { found } from './table.ts';

/** A row of the table password_resets. */
interface ResetRow {
  readonly user_id: string;
  readonly code_hash: string;
  readonly expires_at: number;
  readonly proven_at: number;
}

const selectReset = `
  select user_id, code_hash, expires_at, proven_at from password_resets
  where user_id = $1 and code_hash = $2 and expires_at > $3`;
const insertReset = `
  insert into password_resets (user_id, code_hash, expires_at, proven_at)
  select id, $1, $2, $3 from users where id = $4
  on conflict (user_id, code_hash)
    do update set expires_at = excluded.expires_at, proven_at = excluded.proven_at`;
const deleteExpiredResets = 'delete from password_resets where expires_at <= $1';
const deleteResetsOf = 'delete from password_resets where user_id = $1';
const deleteExcessResets = `
  delete from password_resets where (user_id, code_hash) in
    (select user_id, code_hash from password_resets order by expires_at desc
     limit 9007199254740991 offset $1)`;
const selectFailures = `
  select key, failures, ends_at as "endsAt" from failures where limiter = $1 and ends_at > $2`;
const putFailures = `
  insert into failures (limiter, key, failures, ends_at) values ($1, $2, $3, $4)
  on conflict (limiter, key)
    do update set failures = excluded.failures, ends_at = excluded.ends_at`;
const forgetFailures = 'delete from failures where limiter = $1 and key = $2';
const deleteEndedFailures = 'delete from failures where limiter = $1 and ends_at <= $2';
const deleteExcessFailures = `
  delete from failures where limiter = $1 and key in
    (select key from failures where limiter = $1 order by ends_at desc
     limit 9007199254740991 offset $2)`;
const selectText = 'select call_id as "callId", text, until from call_texts where call_id = $1';
const putText = `
  insert into call_texts (call_id, text, until) values ($1, $2, $3)
  on conflict (call_id) do update set text = excluded.text, until = excluded.until`;
const deleteEndedTexts = 'delete from call_texts where until < $1';
const deleteExcessTexts = `
  delete from call_texts where call_id in
    (select call_id from call_texts order by until desc limit 9007199254740991 offset $1)`;

/** Changes of rows that are forgotten after minutes. */
export const shortLivedWrites = {
  async insertReset(session, { userId, codeHash, expiresAt, provenAt }: PendingReset, now: number) {
    session.atEnd(deleteExpiredResets, now);
    await session.run(insertReset, codeHash, expiresAt, provenAt, userId);
    session.atEnd(deleteExcessResets, limits.passwordResetsMax);
  },
  async takeReset(session, userId: UserId, codeHash: string, now: number) {
    const row = await session.first<ResetRow>(selectReset, userId, codeHash, now);
    if (row !== undefined) await session.run(deleteResetsOf, userId);
    return found(row, resetFromRow);
  },
  async saveFailures(session, limiter: string, counted: readonly KeptFailures[], now: number) {
    for (const { key, failures, endsAt } of counted) {
      if (failures === 0) await session.run(forgetFailures, limiter, key);
      else await session.run(putFailures, limiter, key, failures, endsAt);
    }
    session.atEnd(deleteEndedFailures, limiter, now);
    session.atEnd(deleteExcessFailures, limiter, limits.loginFailureEntriesMax);
  },
  async putCallText(session, { callId, text, until }: CallText, now: number) {
    await session.run(deleteEndedTexts, now);
    await session.run(putText, callId, text, until);
    session.atEnd(deleteExcessTexts, limits.callTextsMax);
  },
} satisfies Writes;

type ShortLivedContext = SqlContext<typeof shortLivedWrites>;

/** Codes for forgotten passwords in the tables of either engine. */
export const createPasswordResetStore = (context: ShortLivedContext): PasswordResetStore => ({
  insert: (pending, now) => context.write('insertReset', pending, now),
  find: async (...asked) =>
    found(await context.reader.first<ResetRow>(selectReset, ...asked), resetFromRow),
  take: (...asked) => context.write('takeReset', ...asked),
});

/** Counters of failures in the tables of either engine. */
export const createFailureStore = ({ reader, write }: ShortLivedContext): FailureStore => ({
  load: async (limiter, now) =>
    (await reader.all<KeptFailures>(selectFailures, limiter, now)).map((row) => ({ ...row })),
  save: (limiter, counted, now) => write('saveFailures', limiter, counted, now),
});

/** Texts of calls in the tables of either engine. */
export const createCallTextStore = ({ reader, write }: ShortLivedContext): CallTextStore => ({
  put: (callText, now) => write('putCallText', callText, now),
  find: async (callId) =>
    found(await reader.first<CallText>(selectText, callId), (row) => ({ ...row })),
});

const resetFromRow = (row: ResetRow): PendingReset => ({
  userId: parseUserId(row.user_id),
  codeHash: row.code_hash,
  expiresAt: row.expires_at,
  provenAt: row.proven_at,
});
