import type { VisibleTo } from '../../domain/access/viewer.ts';
import { allOf, numbered, visibleRows } from './list-conditions.ts';
import type { Reader } from './reader.ts';

/** A page of rows, and how many there are in all. */
export interface RowPage<Row> {
  readonly rows: readonly Row[];
  readonly total: number;
}

/** Lists the small things, gateways and projects: one row each, in order of creation. */
export function createResourceListing<Row>(
  reader: Reader,
  kind: 'gateway' | 'project',
  columns: string,
): (page: { visibleTo: VisibleTo; limit: number; offset: number }) => Promise<RowPage<Row>> {
  const table = `${kind}s`;
  return ({ visibleTo, limit, offset }) => {
    const { sql, values } = allOf(visibleRows(kind, visibleTo));
    const count = numbered(`select count(*) as n from ${table} where ${sql}`);
    const page = numbered(
      `select ${columns} from ${table} where ${sql} order by position limit ? offset ?`,
    );
    return reader.inSnapshot(async (session) => ({
      rows: await session.all<Row>(page, ...values, limit, offset),
      total: (await session.first<{ n: number }>(count, ...values))?.n ?? 0,
    }));
  };
}
