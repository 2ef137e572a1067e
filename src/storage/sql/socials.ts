import { limits } from '../../domain/limits.ts';
import type { SocialStore } from '../../domain/socials/social-store.ts';
import { createHexId } from '../../lib/secret-token.ts';
import type { SqlContext } from './context.ts';
import { deliveryDetails } from './notification-row.ts';
import { type Count, found, type SqlSession } from './session.ts';
import { type SocialRow, socialColumns, socialFromRow, socialToRow } from './social-row.ts';

const selectSocial = `select ${socialColumns} from socials where id = $1`;
const selectPage = `select ${socialColumns} from socials order by position limit $1 offset $2`;
const countAll = 'select count(*) as n from socials';
const isOf = '(nocase(sender) = nocase($1) or nocase(recipient) = nocase($1))';
const selectPageOf = `
  select ${socialColumns} from socials where ${isOf} order by position limit $2 offset $3`;
const countOf = `select count(*) as n from socials where ${isOf}`;
const isThere = (place: string): string =>
  `exists (select 1 from users where nocase(username) = nocase(${place}))`;
// An account that ends meanwhile takes what is being inserted with it.
const insertSocial = `
  insert into socials (${socialColumns})
  select $1, $2, $3, $4, $5, $6 where ${isThere('$7')} and ${isThere('$8')}`;
const deleteOldest = `
  delete from socials where status <> 'pending' and position in
    (select position from socials where nocase(sender) = nocase($1)
     order by position desc limit 9007199254740991 offset $2)`;
const insertDelivery = `
  insert into deliveries (social, payer, channel, status, attempts, created_at, due_at, token,
    details)
  values ($1, $2, $3, 'pending', 0, $4, $4, $5, $6)`;
const countWaiting = `
  select count(*) as n from socials where nocase(sender) = nocase($1) and status = 'pending'`;
const deleteSocial = 'delete from socials where id = $1';

/** Changes of social messages. */
export const socialWrites = {
  async insertSocials(
    session: SqlSession,
    rows: readonly SocialRow[],
  ): Promise<'inserted' | 'too_many'> {
    const pending = rows.filter(({ status }) => status === 'pending');
    for (const [sender, own] of Map.groupBy(pending, (row) => row.sender)) {
      const waiting = (await session.first<Count>(countWaiting, sender))?.n ?? 0;
      if (own.length + waiting > limits.socialsPendingPerSenderMax) return 'too_many';
    }
    for (const row of rows) {
      const { id, sender, recipient, status, created_at, details } = row;
      const users = [sender, recipient] as const;
      const values = [id, ...users, status, created_at, details, ...users] as const;
      const made = await session.run(insertSocial, ...values);
      if (made > 0 && status === 'pending') await insertDeliveryOf(session, row);
    }
    for (const sender of new Set(rows.map((row) => row.sender))) {
      await session.run(deleteOldest, sender, limits.socialsPerSenderMax);
    }
    return 'inserted';
  },
  removeSocial: async (session: SqlSession, id: string): Promise<'removed' | 'missing'> =>
    (await session.run(deleteSocial, id)) === 0 ? 'missing' : 'removed',
};

async function insertDeliveryOf(
  session: SqlSession,
  { id, sender, recipient, created_at, details }: SocialRow,
): Promise<void> {
  const { channel, message } = JSON.parse(details) as { channel: string; message: string };
  const text = deliveryDetails({ username: recipient, message });
  await session.run(insertDelivery, id, sender, channel, created_at, createHexId(), text);
}

/** Social messages in the tables of either engine. */
export function createSocialStore({
  reader,
  write,
  damaged,
}: SqlContext<typeof socialWrites>): SocialStore {
  const read = (row: SocialRow) => damaged.read('socials', row.id, () => socialFromRow(row));

  return {
    insert: (created) => write('insertSocials', created.map(socialToRow)),
    find: async (id) => found(await reader.first<SocialRow>(selectSocial, id), read),
    list: ({ ofUser, limit, offset }) =>
      reader.inSnapshot(async (session) => {
        const [sql, count, user] =
          ofUser === undefined ? [selectPage, countAll, []] : [selectPageOf, countOf, [ofUser]];
        const rows = await session.all<SocialRow>(sql, ...user, limit, offset);
        const total = (await session.first<Count>(count, ...user))?.n ?? 0;
        return { socials: rows.flatMap((row) => read(row) ?? []), total };
      }),
    remove: (id) => write('removeSocial', id),
  };
}
