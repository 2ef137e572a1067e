import { readFileSync } from 'node:fs';
import type pg from 'pg';

/**
 * The part of each bucket, where Citus spreads the tables of the data plane over several servers: a
 * part is a shard of each of them, has the number of its first bucket, and all of a device is in
 * one. Empty: there are none.
 */
export type Parts = readonly number[];

/**
 * A condition before others, by which Citus finds the one server that a statement is for: buckets
 * are its parameter of this number. One server would look at it for each row, and needs none.
 */
export const isHere = (isSaid: boolean, at: number): string =>
  isSaid ? `bucket = any($${at}::smallint[]) and` : '';

/** Spreads new tables, where the database has Citus and workers. */
export const spreadTables = readFileSync(new URL('./parts.sql', import.meta.url), 'utf8');

/** Reads which part each bucket is of. */
export async function readParts(client: pg.Client): Promise<Parts> {
  const { rows } = await client.query(`
    select to_regproc(quote_ident(current_schema()) || '.parts_of_buckets') is not null as found`);
  if (!rows[0].found) return [];
  return (await client.query('select parts_of_buckets() as parts')).rows[0].parts;
}

/** Of a transaction where there are parts, its last statement but the commit. */
export const commitWhole = 'select commit_whole()';
