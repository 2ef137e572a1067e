import { createHash } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import type { SqlSession } from '../../../src/storage/sql/session.ts';
import { UnusableStorageError } from '../../../src/storage/unusable-storage-error.ts';
import { type MovedRow, type MovedTable, type MovedValue, movedTables } from './tables.ts';

/** How far a table was read: what its engine goes on from. */
type Mark = readonly (string | number)[];

/** Some rows of a table. */
export interface MovedPage {
  readonly rows: readonly MovedRow[];
  /** Where the next page begins; undefined: this is the last one. */
  readonly next: Mark | undefined;
}

/** An installation that is read from; no process writes it meanwhile. */
export interface MoveSource {
  /** Says which it is, so that a move that broke off goes on with the same; it has no password. */
  readonly name: string;
  /** The secret of the installation. */
  secret(): Promise<string>;
  /** How many datapoints there are. */
  datapoints(): Promise<number>;
  /** How many rows a table has. */
  count(table: MovedTable): Promise<number>;
  /** Rows after a mark, in an order of the engine's own. */
  page(table: MovedTable, after: Mark | undefined): Promise<MovedPage>;
  close(): Promise<void>;
}

/** Where an installation is moved to; no service starts on it before the move has ended. */
export interface MoveTarget extends Pick<MoveSource, 'count' | 'page'> {
  /** How far a table is, from a move from the same source that broke off. */
  progress(table: MovedTable): Promise<'none' | 'done' | Mark>;
  /** Adds a page, and remembers with it how far the table is, in one commit. */
  put(table: MovedTable, page: MovedPage): Promise<void>;
  /** Everything is there and was compared: a service may start on it. */
  finish(secret: string): Promise<void>;
  /** Closes the target; pages that were put stay, for a move that goes on from there. */
  close(): Promise<void>;
}

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

const pollMs = 20;
/** Datapoints outside chunks are limited in every engine: this is far more than they take. */
const patienceMs = 600_000;

/** Resolves when all datapoints are in chunks. Throws UnusableStorageError when they do not go. */
export async function untilFlushed(isFlushed: () => Promise<boolean>): Promise<void> {
  const giveUpAt = performance.now() + patienceMs;
  while (!(await isFlushed())) {
    if (performance.now() > giveUpAt) {
      throw new UnusableStorageError(
        'datapoints cannot be put into chunks: look whether the disk is full',
      );
    }
    await wait(pollMs);
  }
}

/** The rows and datapoints that were moved. */
export interface MoveReport {
  /** Rows by table, of those that have any. */
  readonly rows: ReadonlyMap<string, number>;
  readonly datapoints: number;
}

/**
 * Copies everything from one installation to the other, reads both again and compares them. One
 * that broke off goes on where it was. Throws UnusableStorageError when they differ in the end, and
 * what `signal` was aborted with.
 */
export async function moveAll(options: {
  readonly source: MoveSource;
  readonly target: MoveTarget;
  /** Called after each page, in rows: each is copied once, and read twice to be compared. */
  readonly onProgress: (done: number, total: number) => void;
  readonly signal?: AbortSignal;
}): Promise<MoveReport> {
  const { source, target, onProgress, signal } = options;
  const rows = new Map<string, number>();
  let total = 0;
  for (const table of movedTables) {
    const count = await source.count(table);
    total += count;
    if (count > 0) rows.set(table.name, count);
  }

  let done = 0;
  const onPage = (more: number): void => {
    signal?.throwIfAborted();
    done += more;
    onProgress(done, 3 * total);
  };
  for (const table of movedTables) await copy({ source, target, table, onPage });
  const different: string[] = [];
  for (const table of movedTables) {
    const [before, after] = [
      await digestOf(source, table, onPage),
      await digestOf(target, table, onPage),
    ];
    if (before.rows !== after.rows || before.sum !== after.sum) {
      different.push(`${table.name} (${before.rows} rows, and ${after.rows} there)`);
    }
  }
  if (different.length > 0) {
    throw new UnusableStorageError(
      `what was moved is not what is there: ${different.join(', ')}. Somebody changed one of ` +
        'them meanwhile: empty the place that was moved to, and begin again',
    );
  }
  signal?.throwIfAborted();
  await target.finish(await source.secret());
  return { rows, datapoints: await source.datapoints() };
}

async function copy(options: {
  readonly source: MoveSource;
  readonly target: MoveTarget;
  readonly table: MovedTable;
  readonly onPage: (rows: number) => void;
}): Promise<void> {
  const { source, target, table, onPage } = options;
  const before = await target.progress(table);
  if (before !== 'none') onPage(await target.count(table));
  if (before === 'done') return;
  for (let mark = before === 'none' ? undefined : before; ; ) {
    const page = await source.page(table, mark);
    await target.put(table, page);
    onPage(page.rows.length);
    if (page.next === undefined) return;
    mark = page.next;
  }
}

/** The digest of the rows of a table, whatever their order. */
export interface Digest {
  readonly rows: number;
  readonly sum: string;
}

const modulus = 2n ** 256n;

/** Reads a whole table. `onPage` receives how many rows were read, page by page. */
export async function digestOf(
  end: Pick<MoveSource, 'page'>,
  table: MovedTable,
  onPage: (rows: number) => void,
): Promise<Digest> {
  const columns = table.columns.filter((column) => !table.loose.includes(column));
  let [rows, sum] = [0, 0n];
  let page = await end.page(table, undefined);
  for (;;) {
    for (const row of page.rows) sum = (sum + hashOf(row, columns)) % modulus;
    rows += page.rows.length;
    onPage(page.rows.length);
    if (page.next === undefined) break;
    page = await end.page(table, page.next);
  }
  return { rows, sum: sum.toString(16).padStart(64, '0') };
}

function hashOf(row: MovedRow, columns: readonly string[]): bigint {
  const hash = createHash('sha256');
  for (const column of columns) {
    const bytes = bytesOf(row[column] ?? null);
    hash.update(`${bytes.length} `).update(bytes);
  }
  return BigInt(`0x${hash.digest('hex')}`);
}

/** Bytes that differ for values that do. */
function bytesOf(value: MovedValue): Uint8Array {
  if (value === null) return Buffer.from('-');
  if (typeof value === 'number') return Buffer.from(`n${value}`);
  return Buffer.concat([
    Buffer.from(typeof value === 'string' ? 't' : 'b'),
    typeof value === 'string' ? Buffer.from(value) : value,
  ]);
}
