// Loaded into a service by bench/growth.ts: the work of its statements on SQLite.
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { DatabaseSync, StatementSync } from 'node:sqlite';
import { getEnvironmentData, isMainThread, setEnvironmentData } from 'node:worker_threads';

/** The work of all threads since the start of the service. */
export interface StatementWork {
  readonly statements: number;
  /** Rows that statements answered or changed. */
  readonly rows: number;
  /** Pages of the database that they read. */
  readonly pages: number;
  /** Statements of the main thread that read most, since the file was written last. */
  readonly worst: readonly {
    readonly sql: string;
    readonly pages: number;
    readonly rows: number;
  }[];
}

/** Small pages: a scan of short rows reads many more of them than a search does. */
export const meteredPageBytes = 512;

const worstMax = 8;
const environmentKey = 'kipimo statement meter';

function sharedCounters(): Int32Array {
  const known: unknown = getEnvironmentData(environmentKey);
  if (known instanceof SharedArrayBuffer) return new Int32Array(known);
  const made = new SharedArrayBuffer(3 * Int32Array.BYTES_PER_ELEMENT);
  setEnvironmentData(environmentKey, made);
  return new Int32Array(made);
}

/** Bytes that this thread has read so far. */
function bytesRead(): number {
  const text = readFileSync('/proc/thread-self/io', 'latin1');
  return Number(text.slice('rchar: '.length, text.indexOf('\n')));
}

function meter(file: string): void {
  const counters = sharedCounters();
  const bySql = new Map<string, { pages: number; rows: number }>();

  function metered<Answer>(sql: string, run: () => Answer, rowsOf: (answer: Answer) => number) {
    const before = bytesRead();
    const answer = run();
    // Each reading of the counter reads fewer bytes than a page has.
    const pages = Math.floor((bytesRead() - before) / meteredPageBytes);
    const rows = rowsOf(answer);
    for (const [at, count] of [1, rows, pages].entries()) Atomics.add(counters, at, count);
    const known = bySql.get(sql) ?? { pages: 0, rows: 0 };
    bySql.set(sql, { pages: known.pages + pages, rows: known.rows + rows });
    return answer;
  }

  const { prototype } = StatementSync;
  const rowsOf = {
    all: (rows: readonly unknown[]): number => rows.length,
    get: (row: unknown): number => (row === undefined ? 0 : 1),
    run: ({ changes }: { readonly changes: number | bigint }): number => Number(changes),
  };
  const wrapped = (name: keyof typeof rowsOf) => {
    const original = prototype[name];
    return function (this: StatementSync, ...values: readonly unknown[]): unknown {
      const call = (): unknown => Reflect.apply(original, this, values);
      // Each of them answers what its counter of rows takes.
      return metered(this.sourceSQL, call, rowsOf[name] as (answer: unknown) => number);
    };
  };
  Object.assign(prototype, { all: wrapped('all'), get: wrapped('get'), run: wrapped('run') });
  const { exec } = DatabaseSync.prototype;
  Object.assign(DatabaseSync.prototype, {
    exec(this: DatabaseSync, sql: string) {
      exec.call(this, sql);
      // Every page that a statement needs is read from the file.
      if (/cache_size|mmap_size/.test(sql)) {
        exec.call(this, 'pragma cache_size = 1; pragma mmap_size = 0');
      }
    },
  });
  if (!isMainThread) return;
  process.on('SIGUSR2', () => {
    const [statements = 0, rows = 0, pages = 0] = counters;
    const worst = [...bySql].map(([sql, work]) => ({ sql, ...work }));
    worst.sort((a, b) => b.pages + b.rows - a.pages - a.rows);
    bySql.clear();
    const work: StatementWork = { statements, rows, pages, worst: worst.slice(0, worstMax) };
    // Under another name until it is whole: somebody waits for it.
    writeFileSync(`${file}.part`, JSON.stringify(work));
    renameSync(`${file}.part`, file);
  });
}

const file = process.env['STATEMENT_METER_FILE'];
if (file !== undefined) meter(file);
