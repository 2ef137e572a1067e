import type { DatabaseSync } from 'node:sqlite';
import type { Checks, Findings, Pace } from '../../examination/checks.ts';
import type { SizedPart } from '../../examination/chunk-examination.ts';
import { describeFailure } from '../session.ts';

/** Tables that are walked row by row instead: they may be of any size. */
const walked = new Set(['chunks', 'datapoint_log']);

const listTables = `
  select name from sqlite_schema where type = 'table' and name not like 'sqlite_%' order by name`;

/** The tables of a database, but for those of SQLite. */
export const tablesOf = (database: DatabaseSync): readonly string[] =>
  database
    .prepare(listTables)
    .all()
    .map(({ name }) => String(name));

/** Pages, indexes and keys to other tables. A database that is not in use is checked as a whole. */
export async function checkTables(
  database: DatabaseSync,
  { isAlone, findings, pace }: Checks & { readonly isAlone: boolean },
): Promise<void> {
  const found = (sentence: string): void => findings.damage('pages', sentence);

  function check(pragma: string): void {
    try {
      for (const row of database.prepare(`pragma ${pragma}`).all()) {
        const said = String(Object.values(row)[0]);
        if (said !== 'ok') found(`The database file is damaged: ${said}.`);
      }
    } catch (error) {
      found(`The database file cannot be read: ${reasonOf(error)}.`);
    }
  }

  if (isAlone) check('integrity_check(20)');
  for (const table of [...tablesOf(database), 'sqlite_sequence']) {
    if (walked.has(table)) continue;
    if (!isAlone) check(`integrity_check("${table}")`);
    await pace();
    checkKeys(database, table, findings);
    await pace();
  }
}

function checkKeys(database: DatabaseSync, table: string, findings: Findings): void {
  try {
    const orphans = database.prepare(`pragma foreign_key_check("${table}")`).all();
    if (orphans.length === 0) return;
    const parents = [...new Set(orphans.map(({ parent }) => String(parent)))].join(', ');
    const belong = `${orphans.length} rows of the table ${table} belong to rows of ${parents}`;
    findings.damage('orphans', `${belong} that are not there.`);
  } catch {
    // Unreadable tables were reported by the check of their pages.
  }
}

/** Bytes of tables in the file, indexes included; walked tables are counted on the walk. */
export async function sizesOf(database: DatabaseSync, pace: Pace): Promise<readonly SizedPart[]> {
  const sizeOf = database.prepare('select sum(pgsize) as bytes from dbstat where name = ?');
  const indexesOf = database.prepare(
    "select name from sqlite_schema where type = 'index' and tbl_name = ?",
  );
  const sizes: SizedPart[] = [];
  for (const table of tablesOf(database)) {
    if (walked.has(table)) continue;
    let bytes = 0;
    for (const name of [table, ...indexesOf.all(table).map((index) => String(index['name']))]) {
      bytes += Number(sizeOf.get(name)?.['bytes'] ?? 0);
      await pace();
    }
    sizes.push({ name: table, bytes });
  }
  return sizes;
}

/** The message of the machine or SQLite, for a sentence. */
export function reasonOf(error: unknown): string {
  return describeFailure(error) ?? (error instanceof Error ? error.message : String(error));
}
