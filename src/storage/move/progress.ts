import type { SqlSession } from '../sql/session.ts';
import { UnusableStorageError } from '../unusable-storage-error.ts';
import type { Mark, MovedPage, MoveTarget } from './move-end.ts';
import type { MovedTable } from './tables.ts';

/** Tables of a move that is under way: while they are there, no service starts. */
const progressTables = [
  'create table if not exists move_from (name text not null)',
  'create table if not exists move_progress (moved text collate "C" primary key, mark text)',
];
const putSource = `
  insert into move_from (name) select $1 where not exists (select 1 from move_from)`;
const findProgress = 'select mark from move_progress where moved = $1';
const putProgress = `
  insert into move_progress (moved, mark) values ($1, $2)
  on conflict (moved) do update set mark = excluded.mark`;

/** Keeps in the target of a move where it comes from, and how far each table is. */
export const createMoveProgress = (session: SqlSession) => ({
  /** Makes the tables for a move from this source, where no move began. */
  async begin(sourceName: string): Promise<void> {
    for (const sql of progressTables) await session.run(sql);
    await session.run(putSource, sourceName);
  },
  /** Throws UnusableStorageError where a move from another source broke off. */
  async requireSource(sourceName: string, remedy: string): Promise<void> {
    const from = await session.first<{ name: string }>('select name from move_from');
    if (from?.name !== sourceName) throw new UnusableStorageError(remedy);
  },
  async progress({ name }: MovedTable): ReturnType<MoveTarget['progress']> {
    const row = await session.first<{ mark: string | null }>(findProgress, name);
    if (row === undefined) return 'none';
    return row.mark === null ? 'done' : (JSON.parse(row.mark) as Mark);
  },
  /** Remembers how far a table is, in the commit of the page. */
  async note({ name }: MovedTable, { next }: MovedPage): Promise<void> {
    await session.run(putProgress, name, next === undefined ? null : JSON.stringify(next));
  },
});
