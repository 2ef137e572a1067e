import type { DatabaseSync } from 'node:sqlite';
import type { UserId } from '../../domain/ids.ts';
import { limits } from '../../domain/limits.ts';
import type { CallText } from '../../domain/notifications/call-text-store.ts';
import type { KeptFailures } from '../../domain/users/failure-store.ts';
import type { PendingReset } from '../../domain/users/password-reset-store.ts';
import { type ResetRow, resetFromRow, selectReset } from '../sql/reset-row.ts';
import { createSelection } from './selection.ts';

const insertReset = `
  insert or replace into password_resets (user_id, code_hash, expires_at, proven_at)
  select id, ?, ?, ? from users where id = ?`;
const deleteExpiredResets = 'delete from password_resets where expires_at <= ?';
const deleteResetsOf = 'delete from password_resets where user_id = ?';
const deleteExcessResets = `
  delete from password_resets where (user_id, code_hash) in
    (select user_id, code_hash from password_resets order by expires_at desc limit -1 offset ?)`;
const putFailures =
  'insert or replace into failures (limiter, key, failures, ends_at) values (?, ?, ?, ?)';
const forgetFailures = 'delete from failures where limiter = ? and key = ?';
const deleteEndedFailures = 'delete from failures where limiter = ? and ends_at <= ?';
const deleteExcessFailures = `
  delete from failures where limiter = ?1 and key in
    (select key from failures where limiter = ?1 order by ends_at desc limit -1 offset ?2)`;
const putText = 'insert or replace into call_texts (call_id, text, until) values (?, ?, ?)';
const deleteEndedTexts = 'delete from call_texts where until < ?';
const deleteExcessTexts = `
  delete from call_texts where call_id in
    (select call_id from call_texts order by until desc limit -1 offset ?)`;

/** The changes that the writer thread makes to rows that are forgotten after minutes. */
export function createShortLivedWrites(database: DatabaseSync) {
  const reset = createSelection<ResetRow>(database, selectReset);
  const addReset = database.prepare(insertReset);
  const removeExpiredResets = database.prepare(deleteExpiredResets);
  const removeResetsOf = database.prepare(deleteResetsOf);
  const removeExcessResets = database.prepare(deleteExcessResets);
  const keep = database.prepare(putFailures);
  const forget = database.prepare(forgetFailures);
  const removeEnded = database.prepare(deleteEndedFailures);
  const removeExcess = database.prepare(deleteExcessFailures);
  const addText = database.prepare(putText);
  const removeEndedTexts = database.prepare(deleteEndedTexts);
  const removeExcessTexts = database.prepare(deleteExcessTexts);

  return {
    insertReset({ userId, codeHash, expiresAt, provenAt }: PendingReset, now: number): void {
      removeExpiredResets.run(now);
      addReset.run(codeHash, expiresAt, provenAt, userId);
      removeExcessResets.run(limits.passwordResetsMax);
    },
    takeReset(userId: UserId, codeHash: string, now: number): PendingReset | undefined {
      const row = reset.first(userId, codeHash, now);
      if (row === undefined) return undefined;
      removeResetsOf.run(userId);
      return resetFromRow(row);
    },
    saveFailures(limiter: string, counted: readonly KeptFailures[], now: number): void {
      for (const { key, failures, endsAt } of counted) {
        if (failures === 0) forget.run(limiter, key);
        else keep.run(limiter, key, failures, endsAt);
      }
      removeEnded.run(limiter, now);
      removeExcess.run(limiter, limits.loginFailureEntriesMax);
    },
    putCallText({ callId, text, until }: CallText, now: number): void {
      removeEndedTexts.run(now);
      addText.run(callId, text, until);
      removeExcessTexts.run(limits.callTextsMax);
    },
  };
}
