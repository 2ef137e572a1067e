import type { DatabaseSync } from 'node:sqlite';
import type { VisibleTo } from '../../domain/access/viewer.ts';
import { allOf, once, visibleRows } from './list-conditions.ts';
import { createSelection, inSnapshot } from './selection.ts';

/** A page of rows, and how many there are in all. */
export interface RowPage<Row> {
  readonly rows: readonly Row[];
  readonly total: number;
}

/** Lists the small things, gateways and projects: one row each, in order of creation. */
export function createResourceListing<Row>(
  reader: DatabaseSync,
  kind: 'gateway' | 'project',
  columns: string,
): (page: { visibleTo: VisibleTo; limit: number; offset: number }) => RowPage<Row> {
  const table = `${kind}s`;
  const count = once((where) =>
    createSelection<{ n: number }>(reader, `select count(*) as n from ${table} where ${where}`),
  );
  const select = once((where) =>
    createSelection<Row>(
      reader,
      `select ${columns} from ${table} where ${where} order by position limit ? offset ?`,
    ),
  );

  return ({ visibleTo, limit, offset }) => {
    const { sql, parameters } = allOf(visibleRows(kind, visibleTo));
    return inSnapshot(reader, () => ({
      rows: select(sql).all(...parameters, limit, offset),
      total: count(sql).first(...parameters)?.n ?? 0,
    }));
  };
}
