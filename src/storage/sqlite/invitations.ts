import type { InvitationStore } from '../../domain/sharing/invitation-store.ts';
import {
  type GivenInvitationRow,
  givenInvitationFromRow,
  type InvitationRow,
  invitationFromRow,
  invitationToRow,
  invitationStatements as statements,
} from '../sql/invitation-row.ts';
import { readSafely } from './failures.ts';
import { createSelection, found, inSnapshot } from './selection.ts';
import type { StoreContext } from './store-context.ts';

/** Invitations in SQLite. */
export function createInvitationStore({ reader, writer, damaged }: StoreContext): InvitationStore {
  const byHash = createSelection<GivenInvitationRow>(reader, statements.find);
  const page = createSelection<InvitationRow>(reader, statements.list);
  const count = createSelection<{ n: number }>(reader, statements.count);
  const read = (row: InvitationRow) =>
    damaged.read('invitations', row.id, () => invitationFromRow(row));

  return {
    insert: (invitation) => writer.call('insertInvitation', invitationToRow(invitation)),
    find: (hash) =>
      readSafely(() =>
        found(byHash.first(hash), (row) =>
          damaged.read('invitations', row.id, () => givenInvitationFromRow(row)),
        ),
      ),
    list: (giver, { limit, offset }) =>
      readSafely(() =>
        inSnapshot(reader, () => ({
          invitations: page.all(giver, limit, offset).flatMap((row) => read(row) ?? []),
          total: count.first(giver)?.n ?? 0,
        })),
      ),
    revoke: (giver, id) => writer.call('revokeInvitation', giver, id),
    take: (id, user, now) => writer.call('takeInvitation', id, user, now),
    finish: (id, user) => writer.call('finishInvitation', id, user),
  };
}
