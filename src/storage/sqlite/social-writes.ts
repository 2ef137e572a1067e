import type { DatabaseSync } from 'node:sqlite';
import { limits } from '../../domain/limits.ts';
import { type SocialRow, socialColumns } from '../sql/social-row.ts';

const insertSocial = `
  insert into socials (${socialColumns})
  select ?, ?, ?, ?, ?, ?
  where exists (select 1 from users where username = ?)
    and exists (select 1 from users where username = ?)`;
const deleteOldest = `
  delete from socials where position in
    (select position from socials where sender = ? order by position desc limit -1 offset ?)`;
const deleteSocial = 'delete from socials where id = ?';

/**
 * What the writer thread does to social messages. An account that ends meanwhile takes what was
 * being inserted with it.
 */
export function createSocialWrites(database: DatabaseSync) {
  const insert = database.prepare(insertSocial);
  const removeOldest = database.prepare(deleteOldest);
  const remove = database.prepare(deleteSocial);

  return {
    insertSocials(rows: readonly SocialRow[]): void {
      for (const { id, sender, recipient, status, created_at, details } of rows) {
        insert.run(id, sender, recipient, status, created_at, details, sender, recipient);
      }
      for (const sender of new Set(rows.map((row) => row.sender))) {
        removeOldest.run(sender, limits.socialsPerSenderMax);
      }
    },
    removeSocial: (id: string): 'removed' | 'missing' =>
      remove.run(id).changes === 0 ? 'missing' : 'removed',
  };
}
