import { invitationLimits } from '../../domain/sharing/invitation-limits.ts';
import type { InvitationStore } from '../../domain/sharing/invitation-store.ts';
import {
  type GivenInvitationRow,
  givenInvitationFromRow,
  type InvitationRow,
  invitationFromRow,
  invitationStatements,
  invitationToRow,
} from '../sql/invitation-row.ts';
import { found, type Session } from './connection.ts';
import type { StoreContext } from './store-context.ts';

/** The statement with the numbered parameters of PostgreSQL. */
const numbered = (sql: string): string => sql.replaceAll(/\?(\d)/g, '$$$1');
const find = numbered(invitationStatements.find);
const list = numbered(invitationStatements.list);
const count = numbered(invitationStatements.count);
const countOpen = numbered(invitationStatements.countOpen);
const insert = numbered(invitationStatements.insert);
const removeOver = numbered(invitationStatements.removeOver);
const revoke = numbered(invitationStatements.revoke);
const addUse = numbered(invitationStatements.addUse);
const use = numbered(invitationStatements.use);
const takeUse = numbered(invitationStatements.takeUse);
const dropUse = numbered(invitationStatements.dropUse);
const finish = numbered(invitationStatements.finish);

interface Count {
  readonly n: number;
}

/** Invitations in PostgreSQL. */
export function createInvitationStore({ reader, writer, damaged }: StoreContext): InvitationStore {
  const read = (row: InvitationRow) =>
    damaged.read('invitations', row.id, () => invitationFromRow(row));

  return {
    insert: (invitation) => writer.call((tx) => insertRow(tx, invitationToRow(invitation))),
    find: async (hash) =>
      found(await reader.first<GivenInvitationRow>(find, hash), (row) =>
        damaged.read('invitations', row.id, () => givenInvitationFromRow(row)),
      ),
    list: (giver, { limit, offset }) =>
      reader.inSnapshot(async (session) => {
        const rows = await session.all<InvitationRow>(list, giver, limit, offset);
        const total = (await session.first<Count>(count, giver))?.n ?? 0;
        return { invitations: rows.flatMap((row) => read(row) ?? []), total };
      }),
    revoke: (giver, id) =>
      writer.call(async (tx) => ((await tx.run(revoke, giver, id)) === 0 ? 'missing' : 'removed')),
    take: (id, user, now) => writer.call((tx) => take(tx, id, user, now)),
    finish: (id, user) =>
      writer.call(async (tx) => {
        await tx.run(finish, id, user);
      }),
  };
}

async function insertRow(
  session: Session,
  row: InvitationRow,
): ReturnType<InvitationStore['insert']> {
  const { id, hash, user_id, created_at, expires_at, uses_left, details } = row;
  const open = await session.first<Count>(countOpen, user_id, created_at);
  if ((open?.n ?? 0) >= invitationLimits.invitationsPerUserMax) return 'too_many';
  const values = [id, hash, created_at, expires_at, uses_left, details, user_id] as const;
  const made = await session.run(insert, ...values);
  await session.run(removeOver, user_id, created_at);
  return made === 0 ? 'gone' : 'inserted';
}

async function take(
  session: Session,
  id: string,
  user: string,
  now: number,
): ReturnType<InvitationStore['take']> {
  if ((await session.run(addUse, id, user)) === 0) {
    const known = await session.first<{ is_given: number }>(use, id, user);
    if (known === undefined) return 'over';
    return known.is_given === 1 ? 'given' : 'unfinished';
  }
  if ((await session.run(takeUse, id, now)) > 0) return 'taken';
  await session.run(dropUse, id, user);
  return 'over';
}
