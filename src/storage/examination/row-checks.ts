import { type AccessKeyRow, keyFromRow } from '../sql/credential-row.ts';
import { type GatewayRow, gatewayColumns, gatewayFromRow } from '../sql/gateway-row.ts';
import { type GroupRow, groupColumns, groupFromRow } from '../sql/group-row.ts';
import { type InvitationRow, invitationFromRow } from '../sql/invitation-row.ts';
import {
  type NotificationRow,
  notificationColumns,
  notificationFromRow,
  type TallyRow,
  tallyColumns,
} from '../sql/notification-row.ts';
import type { SqlSession } from '../sql/session.ts';
import { type UserRow, userColumns, userFromRow } from '../sql/user-row.ts';
import { type Findings, restoreBackup } from './finding.ts';
import type { Pace } from './pace.ts';

/** A table whose rows a service sets aside where it cannot understand them. */
interface ReadTable {
  readonly name: string;
  readonly columns: string;
  /** Throws when the row cannot be understood. */
  readonly read: (row: never) => unknown;
}

const readTables: readonly ReadTable[] = [
  { name: 'users', columns: userColumns, read: (row: UserRow) => userFromRow(row) },
  {
    name: 'access_keys',
    columns: 'id, hash, user_id, created_at, expires_at, details',
    read: (row: AccessKeyRow) => keyFromRow(row),
  },
  {
    name: 'invitations',
    columns: 'id, hash, user_id, created_at, expires_at, uses_left, is_revoked, details',
    read: (row: InvitationRow) => invitationFromRow(row),
  },
  { name: 'user_groups', columns: groupColumns, read: (row: GroupRow) => groupFromRow(row, []) },
  { name: 'gateways', columns: gatewayColumns, read: (row: GatewayRow) => gatewayFromRow(row) },
  {
    name: 'notifications',
    columns: `${notificationColumns}, ${tallyColumns}`,
    read: (row: NotificationRow & TallyRow) => notificationFromRow(row),
  },
];

const rowsPerStep = 100;

/** Whether what rows of accounts, links, groups, gateways and notifications hold can be read. */
export async function checkRows(
  session: SqlSession,
  { findings, pace }: { readonly findings: Findings; readonly pace: Pace },
): Promise<void> {
  for (const { name, columns, read } of readTables) {
    const select = `
      select position, ${columns} from ${name} where position > $1
      order by position limit ${rowsPerStep}`;
    for (let after = -1; ; ) {
      const rows = await session.all<{ readonly position: number; readonly id: string }>(
        select,
        after,
      );
      for (const row of rows) {
        if (isReadable(row, read)) continue;
        findings.add({
          level: 'damage',
          check: 'rows',
          // Without what it holds, which may be anybody's secret.
          sentence: `The row ${row.id} of the table ${name} cannot be understood.`,
          remedy: `The service goes on without it. ${restoreBackup}`,
        });
      }
      await pace();
      if (rows.length < rowsPerStep) break;
      after = rows.at(-1)?.position ?? after;
    }
  }
}

function isReadable(row: unknown, read: ReadTable['read']): boolean {
  try {
    // Rows have the columns that were selected for this reader.
    read(row as never);
    return true;
  } catch {
    return false;
  }
}
