import type { DatabaseSync } from 'node:sqlite';
import { limits } from '../../domain/limits.ts';
import { createHexId } from '../../lib/secret-token.ts';
import { deliveryDetails } from '../sql/notification-row.ts';
import { type SocialRow, socialColumns } from '../sql/social-row.ts';
import { createSelection } from './selection.ts';

const insertSocial = `
  insert into socials (${socialColumns})
  select ?, ?, ?, ?, ?, ?
  where exists (select 1 from users where username = ?)
    and exists (select 1 from users where username = ?)`;
const deleteOldest = `
  delete from socials where status <> 'pending' and position in
    (select position from socials where sender = ? order by position desc limit -1 offset ?)`;
const insertDelivery = `
  insert into deliveries (social, payer, channel, status, attempts, created_at, due_at, token,
    details)
  values (?, ?, ?, 'pending', 0, ?, ?, ?, ?)`;
const countWaiting = `
  select count(*) as n from socials where sender = ? and status = 'pending'`;
const deleteSocial = 'delete from socials where id = ?';

/**
 * What the writer thread does to social messages. An account that ends meanwhile takes what was
 * being inserted with it.
 */
export function createSocialWrites(database: DatabaseSync) {
  const insert = database.prepare(insertSocial);
  const removeOldest = database.prepare(deleteOldest);
  const remove = database.prepare(deleteSocial);
  const file = database.prepare(insertDelivery);
  const waiting = createSelection<{ n: number }>(database, countWaiting);

  function fileDelivery({ id, sender, recipient, created_at, details }: SocialRow): void {
    const { channel, message } = JSON.parse(details) as { channel: string; message: string };
    const text = deliveryDetails({ username: recipient, message });
    file.run(id, sender, channel, created_at, created_at, createHexId(), text);
  }

  return {
    insertSocials(rows: readonly SocialRow[]): 'inserted' | 'too_many' {
      const pending = rows.filter(({ status }) => status === 'pending');
      for (const sender of new Set(pending.map((row) => row.sender))) {
        const own = pending.filter((row) => row.sender === sender).length;
        const total = own + (waiting.first(sender)?.n ?? 0);
        if (total > limits.socialsPendingPerSenderMax) return 'too_many';
      }
      for (const row of rows) {
        const { id, sender, recipient, status, created_at, details } = row;
        const users = [sender, recipient];
        const { changes } = insert.run(id, ...users, status, created_at, details, ...users);
        if (changes > 0 && status === 'pending') fileDelivery(row);
      }
      for (const sender of new Set(rows.map((row) => row.sender))) {
        removeOldest.run(sender, limits.socialsPerSenderMax);
      }
      return 'inserted';
    },
    removeSocial: (id: string): 'removed' | 'missing' =>
      remove.run(id).changes === 0 ? 'missing' : 'removed',
  };
}
