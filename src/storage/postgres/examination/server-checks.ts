import type { Findings } from '../../examination/finding.ts';
import type { SqlSession } from '../../sql/session.ts';

const selectSettings = `
  select name, setting from pg_settings
  where name in ('fsync', 'full_page_writes', 'data_checksums', 'autovacuum')`;
const selectDead = `
  select relname as name, n_dead_tup as dead, n_live_tup as live from pg_stat_user_tables
  where schemaname = current_schema() and n_dead_tup > 1000000 and n_dead_tup > 5 * n_live_tup`;

const needed: readonly (readonly [name: string, consequence: string, then: string])[] = [
  ['fsync', 'a power cut loses or damages what was acknowledged', ', and restart it'],
  ['full_page_writes', 'a power cut can damage pages for good', ', and restart it'],
  ['autovacuum', 'tables grow with every change', ''],
];

/** Whether the server keeps what it promised, and tidies up. */
export async function checkServer(session: SqlSession, findings: Findings): Promise<void> {
  const rows = await session.all<{ name: string; setting: string }>(selectSettings);
  const settings = new Map(rows.map(({ name, setting }) => [name, setting]));
  for (const [name, consequence, then] of needed) {
    if (settings.get(name) !== 'off') continue;
    findings.warn(
      'server',
      `The server runs with ${name}=off: ${consequence}.`,
      `Set ${name} to on in the configuration of the server${then}.`,
    );
  }
  if (settings.get('data_checksums') === 'off') {
    findings.note(
      'server',
      'The server keeps no checksums of its pages: what a disk spoils may go unnoticed.',
      'Stop the server at the next occasion, and run pg_checksums --enable.',
    );
  }
  type Dead = { readonly name: string; readonly dead: number; readonly live: number };
  for (const { name, dead, live } of await session.all<Dead>(selectDead)) {
    findings.warn(
      'space',
      `The table ${name} has ${dead} dead rows beside ${live} live ones.`,
      'Look for a transaction that stays open for hours, in pg_stat_activity; then vacuum.',
    );
  }
}
