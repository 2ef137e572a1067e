import { accessKeyTable } from '../../../src/storage/sql/credentials.ts';
import {
  type NotificationRow,
  notificationColumns,
  notificationFromRow,
} from '../../../src/storage/sql/firing.ts';
import { gatewayTable } from '../../../src/storage/sql/gateways.ts';
import { groupTable } from '../../../src/storage/sql/groups.ts';
import { invitationFromRow, invitationTable } from '../../../src/storage/sql/invitations.ts';
import type { Row, Table } from '../../../src/storage/sql/table.ts';
import { type UserRow, userColumns, userFromRow } from '../../../src/storage/sql/users.ts';
import { type Checks, restoreBackup, walkRows } from './checks.ts';

/** A table whose rows a service sets aside where it cannot understand them. */
interface ReadTable {
  readonly name: string;
  readonly columns: string;
  /** Throws when the row cannot be understood. */
  readonly read: (row: never) => unknown;
}

const ofTable = <Thing>({ name, columns, fromRow }: Table<Thing>): ReadTable => ({
  name,
  columns,
  read: (row: Row) => fromRow(row),
});

const readTables: readonly ReadTable[] = [
  { name: 'users', columns: userColumns, read: (row: UserRow) => userFromRow(row) },
  ofTable(accessKeyTable),
  ofTable({ ...invitationTable, fromRow: invitationFromRow }),
  ofTable(groupTable),
  ofTable(gatewayTable),
  {
    name: 'notifications',
    columns: notificationColumns,
    read: (row: NotificationRow) => notificationFromRow(row),
  },
];

const rowsPerStep = 100;

/** Whether what rows of accounts, links, groups, gateways and notifications hold can be read. */
export async function checkRows(checks: Checks): Promise<void> {
  for (const { name, columns, read } of readTables) {
    const sql = `
      select position, ${columns} from ${name} where position > $1
      order by position limit ${rowsPerStep}`;
    type Found = { readonly position: number; readonly id: string };
    await walkRows<Found>(checks, { table: name, sql, after: [-1] }, async (row) => {
      if (!isReadable(row, read)) {
        // Without what it holds, which may be anybody's secret.
        const sentence = `The row ${row.id} of the table ${name} cannot be understood.`;
        const remedy = `The service goes on without it. ${restoreBackup}`;
        checks.findings.damage('rows', sentence, remedy);
      }
      return [row.position];
    });
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
