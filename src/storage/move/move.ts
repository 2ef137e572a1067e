import { createHash } from 'node:crypto';
import { UnusableStorageError } from '../unusable-storage-error.ts';
import type { MoveSource, MoveTarget } from './move-end.ts';
import { type MovedRow, type MovedTable, type MovedValue, movedTables } from './tables.ts';

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
