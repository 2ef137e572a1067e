import { limits } from '../../domain/limits.ts';
import type { CallText, CallTextStore } from '../../domain/notifications/call-text-store.ts';
import type { FailureStore, KeptFailures } from '../../domain/users/failure-store.ts';
import type { PasswordResetStore } from '../../domain/users/password-reset-store.ts';
import { type ResetRow, resetFromRow } from '../sql/reset-row.ts';
import { found } from '../sql/session.ts';
import type { StoreContext } from './store-context.ts';

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
    (select user_id, code_hash from password_resets order by expires_at desc offset $1)`;
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
    (select key from failures where limiter = $1 order by ends_at desc offset $2)`;
const selectText = 'select call_id as "callId", text, until from call_texts where call_id = $1';
const putText = `
  insert into call_texts (call_id, text, until) values ($1, $2, $3)
  on conflict (call_id) do update set text = excluded.text, until = excluded.until`;
const deleteEndedTexts = 'delete from call_texts where until < $1';
const deleteExcessTexts = `
  delete from call_texts where call_id in
    (select call_id from call_texts order by until desc offset $1)`;

/** Codes for forgotten passwords in PostgreSQL. */
export function createPasswordResetStore({ reader, writer }: StoreContext): PasswordResetStore {
  return {
    insert: ({ userId, codeHash, expiresAt, provenAt }, now) =>
      writer.call(async (tx) => {
        tx.atEnd(deleteExpiredResets, now);
        await tx.run(insertReset, codeHash, expiresAt, provenAt, userId);
        tx.atEnd(deleteExcessResets, limits.passwordResetsMax);
      }),
    find: async (userId, codeHash, now) =>
      found(await reader.first<ResetRow>(selectReset, userId, codeHash, now), resetFromRow),
    take: (userId, codeHash, now) =>
      writer.call(async (tx) => {
        const row = await tx.first<ResetRow>(selectReset, userId, codeHash, now);
        if (row === undefined) return undefined;
        await tx.run(deleteResetsOf, userId);
        return resetFromRow(row);
      }),
  };
}

/** Counters of failures in PostgreSQL. */
export function createFailureStore({ reader, writer }: StoreContext): FailureStore {
  return {
    load: (limiter, now) => reader.all<KeptFailures>(selectFailures, limiter, now),
    save: (limiter, counted, now) =>
      writer.call(async (tx) => {
        for (const { key, failures, endsAt } of counted) {
          if (failures === 0) await tx.run(forgetFailures, limiter, key);
          else await tx.run(putFailures, limiter, key, failures, endsAt);
        }
        tx.atEnd(deleteEndedFailures, limiter, now);
        tx.atEnd(deleteExcessFailures, limiter, limits.loginFailureEntriesMax);
      }),
  };
}

/** Texts of calls in PostgreSQL. */
export function createCallTextStore({ reader, writer }: StoreContext): CallTextStore {
  return {
    put: ({ callId, text, until }, now) =>
      writer.call(async (tx) => {
        await tx.run(deleteEndedTexts, now);
        await tx.run(putText, callId, text, until);
        tx.atEnd(deleteExcessTexts, limits.callTextsMax);
      }),
    find: (callId) => reader.first<CallText>(selectText, callId),
  };
}
