import { createHash } from 'node:crypto';
import type { MoveSource } from './move-end.ts';
import type { MovedRow, MovedTable, MovedValue } from './tables.ts';

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
