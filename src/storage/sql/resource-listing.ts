import type { VisibleTo } from '../../domain/access/viewer.ts';
import { allOf, numbered, visibleRows } from './list-conditions.ts';
import type { Count, SqlReader } from './session.ts';

/** A page of rows, and how many there are in all. */
export interface RowPage<Row> {
  readonly rows: readonly Row[];
  readonly total: number;
}

export interface Page {
  readonly visibleTo: VisibleTo;
  readonly limit: number;
  readonly offset: number;
}

/** Lists devices, gateways or projects in order of creation, with these columns. */
export function createResourceListing<Row>(
  { reader }: { readonly reader: SqlReader },
  kind: 'device' | 'gateway' | 'project',
  columns: string,
): (page: Page) => Promise<RowPage<Row>> {
  const table = `${kind}s`;
  return ({ visibleTo, limit, offset }) => {
    const { sql, values } = allOf(visibleRows(kind, visibleTo));
    const count = numbered(`select count(*) as n from ${table} where ${sql}`);
    const page = numbered(
      `select ${columns} from ${table} where ${sql} order by position limit ? offset ?`,
    );
    return reader.inSnapshot(async (session) => ({
      rows: await session.all<Row>(page, ...values, limit, offset),
      total: (await session.first<Count>(count, ...values))?.n ?? 0,
    }));
  };
}
