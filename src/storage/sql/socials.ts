import { limits } from '../../domain/limits.ts';
import type { Social, SocialStore } from '../../domain/socials/socials.ts';
import { createHexId } from '../../lib/secret-token.ts';
import { deliveryDetails } from './firing.ts';
import {
  countRows,
  deletion,
  readPage,
  type SqlContext,
  type SqlSession,
  type Writes,
} from './session.ts';
import { createTable, found, type Row, reading } from './table.ts';

const socialTable = createTable<Social>('socials', {
  plain: ['id', 'sender', 'recipient', 'status', 'createdAt'],
});
const { columns } = socialTable;

/** A row of the table. */
interface SocialRow extends Row {
  readonly id: string;
  readonly sender: string;
  readonly recipient: string;
  readonly status: string;
  readonly created_at: number;
  readonly details: string;
}

const selectSocial = `select ${columns} from socials where id = $1`;
/** Of an account, up to the end of a page: each part is a range of an index. */
const socialsOf = `
  socials where position in (
    select * from (select position from socials where nocase(sender) = nocase($1)
      order by position limit $2) as sent
    union select * from (select position from socials where nocase(recipient) = nocase($1)
      order by position limit $2) as received)`;
const isThere = (place: string): string =>
  `exists (select 1 from users where nocase(username) = nocase(${place}))`;
// An account that ends meanwhile takes what is being inserted with it.
const insertSocial = `
  insert into socials (${columns})
  select $1, $2, $3, $4, $5, $6 where ${isThere('$7')} and ${isThere('$8')}`;
const deleteOldest = `
  delete from socials where status <> 'pending' and position in
    (select position from socials where nocase(sender) = nocase($1)
     order by position desc limit 9007199254740991 offset $2)`;
const insertDelivery = `
  insert into deliveries (social, payer, channel, status, attempts, created_at, due_at, token,
    details)
  values ($1, $2, $3, 'pending', 0, $4, $4, $5, $6)`;
const isWaiting = `socials where nocase(sender) = nocase($1) and status = 'pending'`;

/** Changes of social messages. */
export const socialWrites = {
  async insertSocials(session, rows: readonly SocialRow[]) {
    const pending = rows.filter(({ status }) => status === 'pending');
    for (const [sender, own] of Map.groupBy(pending, (row) => row.sender)) {
      const waiting = await countRows(session, isWaiting, sender);
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
  removeSocial: deletion('delete from socials where id = $1'),
} satisfies Writes;

async function insertDeliveryOf(
  session: SqlSession,
  { id, sender, recipient, created_at, details }: SocialRow,
): Promise<void> {
  const { channel, message } = JSON.parse(details) as { channel: string; message: string };
  const text = deliveryDetails({ username: recipient, message });
  await session.run(insertDelivery, id, sender, channel, created_at, createHexId(), text);
}

/** Social messages in the tables of either engine. */
export function createSocialStore(options: SqlContext<typeof socialWrites>): SocialStore {
  const { reader, write, damaged } = options;
  const read = reading(damaged, socialTable);

  return {
    insert: (created) =>
      write(
        'insertSocials',
        created.map((social) => socialTable.toRow(social) as SocialRow),
      ),
    find: async (id) => found(await reader.first<Row>(selectSocial, id), read),
    list: ({ ofUser, ...page }) =>
      reader.inSnapshot(async (session) => {
        const end = page.limit + page.offset;
        const [from, values, part] =
          ofUser === undefined
            ? (['socials', [], '*'] as const)
            : ([socialsOf, [ofUser, end], `=${ofUser.toLowerCase()}`] as const);
        const wanted = { columns, from, kept: { kind: 'social', part } };
        const { rows, total } = await readPage<Row>(session, wanted, values, page);
        return { socials: rows.flatMap((row) => read(row) ?? []), total };
      }),
    remove: (id) => write('removeSocial', id),
  };
}
