import { limits } from '../../domain/limits.ts';
import type { SocialStore } from '../../domain/socials/social-store.ts';
import { createHexId } from '../../lib/secret-token.ts';
import { deliveryDetails } from '../sql/notification-row.ts';
import { type SocialRow, socialColumns, socialFromRow, socialToRow } from '../sql/social-row.ts';
import { found, type Session } from './connection.ts';
import type { StoreContext } from './store-context.ts';

const selectSocial = `select ${socialColumns} from socials where id = $1`;
const selectPage = `select ${socialColumns} from socials order by position limit $1 offset $2`;
const countAll = 'select count(*) as n from socials';
const isOf = '(nocase(sender) = nocase($1) or nocase(recipient) = nocase($1))';
const selectPageOf = `
  select ${socialColumns} from socials where ${isOf} order by position limit $2 offset $3`;
const countOf = `select count(*) as n from socials where ${isOf}`;
const isThere = (place: string): string =>
  `exists (select 1 from users where nocase(username) = nocase(${place}::text))`;
const insertSocial = `
  insert into socials (${socialColumns})
  select $1, $2, $3, $4, $5, $6 where ${isThere('$2')} and ${isThere('$3')}`;
const deleteOldest = `
  delete from socials where status <> 'pending' and position in
    (select position from socials where nocase(sender) = nocase($1)
     order by position desc offset $2)`;
const insertDelivery = `
  insert into deliveries (social, payer, channel, status, attempts, created_at, due_at, token,
    details)
  values ($1, $2, $3, 'pending', 0, $4, $4, $5, $6)`;
const countWaiting = `
  select count(*) as n from socials where nocase(sender) = nocase($1) and status = 'pending'`;
const deleteSocial = 'delete from socials where id = $1';

interface Count {
  readonly n: number;
}

/** Social messages in PostgreSQL. */
export function createSocialStore({ reader, writer, damaged }: StoreContext): SocialStore {
  const read = (row: SocialRow) => damaged.read('socials', row.id, () => socialFromRow(row));

  return {
    insert: (created) => writer.call((tx) => insertSocials(tx, created.map(socialToRow))),
    find: async (id) => found(await reader.first<SocialRow>(selectSocial, id), read),
    list: ({ ofUser, limit, offset }) =>
      reader.inSnapshot(async (session) => {
        const [rows, total] =
          ofUser === undefined
            ? [
                await session.all<SocialRow>(selectPage, limit, offset),
                await session.first<Count>(countAll),
              ]
            : [
                await session.all<SocialRow>(selectPageOf, ofUser, limit, offset),
                await session.first<Count>(countOf, ofUser),
              ];
        return { socials: rows.flatMap((row) => read(row) ?? []), total: total?.n ?? 0 };
      }),
    remove: (id) =>
      writer.call(async (tx) => ((await tx.run(deleteSocial, id)) === 0 ? 'missing' : 'removed')),
  };
}

/** An account that ends meanwhile takes what was being inserted with it. */
async function insertSocials(
  session: Session,
  rows: readonly SocialRow[],
): Promise<'inserted' | 'too_many'> {
  const pending = rows.filter(({ status }) => status === 'pending');
  for (const sender of new Set(pending.map((row) => row.sender))) {
    const own = pending.filter((row) => row.sender === sender).length;
    const waiting = (await session.first<Count>(countWaiting, sender))?.n ?? 0;
    if (own + waiting > limits.socialsPendingPerSenderMax) return 'too_many';
  }
  for (const row of rows) {
    const { id, sender, recipient, status, created_at, details } = row;
    const values = [id, sender, recipient, status, created_at, details] as const;
    const made = await session.run(insertSocial, ...values);
    if (made > 0 && status === 'pending') await fileDelivery(session, row);
  }
  for (const sender of new Set(rows.map((row) => row.sender))) {
    await session.run(deleteOldest, sender, limits.socialsPerSenderMax);
  }
  return 'inserted';
}

async function fileDelivery(
  session: Session,
  { id, sender, recipient, created_at, details }: SocialRow,
): Promise<void> {
  const { channel, message } = JSON.parse(details) as { channel: string; message: string };
  const text = deliveryDetails({ username: recipient, message });
  await session.run(insertDelivery, id, sender, channel, created_at, createHexId(), text);
}
