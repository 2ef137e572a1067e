import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as wait } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import pg from 'pg';
import { silentReporter } from '../src/domain/reporter.ts';
import { silentLog } from '../src/lib/log.ts';
import { openStorage, type StorageOptions } from '../src/storage/open-storage.ts';
import { onServer, schemaUrl, startPostgres } from '../test/postgres-server.ts';
import { fillInstallation } from './growth-installation.ts';
import { meteredPageBytes, type StatementWork } from './statement-meter.ts';

/** An engine whose work is counted. */
export interface GrowthEngine {
  /** Work below it is no growth: a deeper tree, or a small table that is read whole. */
  readonly leastWork: number;
  /** Makes an installation of so many devices; answers how a service on it is started. */
  make(directory: string, size: number): Promise<MeteredInstallation>;
  close(): Promise<void>;
}

export interface MeteredInstallation {
  readonly environment: Readonly<Record<string, string>>;
  readonly nodeFlags: readonly string[];
  /** Work so far, of the service with this process id or of its whole server: compare two. */
  work(pid: number): Promise<StatementWork>;
}

async function filled(options: Pick<StorageOptions, 'kind' | 'directory' | 'url'>, size: number) {
  const storage = await openStorage({ ...options, log: silentLog, reporter: silentReporter });
  try {
    await fillInstallation(storage, size);
  } finally {
    await storage.close();
  }
}

const meter = pathToFileURL(resolve(import.meta.dirname, 'statement-meter.ts')).href;

/** The embedded engine, with small pages, none of which is kept in memory. */
export const sqliteGrowth: GrowthEngine = {
  leastWork: 30,
  async make(directory, size) {
    mkdirSync(directory, { recursive: true });
    const database = new DatabaseSync(join(directory, 'kipimo.db'));
    database.exec(`
      pragma page_size = ${meteredPageBytes}; pragma auto_vacuum = incremental; vacuum;
      pragma journal_mode = wal`);
    database.close();
    await filled({ kind: 'sqlite', directory }, size);
    const file = join(directory, 'work.json');
    return {
      environment: { STATEMENT_METER_FILE: file },
      nodeFlags: ['--import', meter],
      async work(pid) {
        rmSync(file, { force: true });
        process.kill(pid, 'SIGUSR2');
        for (;;) {
          await wait(2);
          try {
            return JSON.parse(readFileSync(file, 'utf8')) as StatementWork;
          } catch {
            // It is not written yet.
          }
        }
      },
    };
  },
  close: async () => undefined,
};

/** What the server counted of a statement: its pages are of 8 KiB, wherever they came from. */
interface CountedStatement {
  readonly query: string;
  readonly calls: number;
  readonly rows: number;
  readonly pages: number;
}

const countedStatements = `
  select query, sum(calls)::int8 as calls, sum(rows)::int8 as rows,
    sum(shared_blks_hit + shared_blks_read + temp_blks_read)::int8 as pages
  from public.pg_stat_statements where query not like '%pg_stat_statements%' group by query`;

/** PostgreSQL, in a cluster of its own that counts the work of statements. */
export async function openPostgresGrowth(): Promise<GrowthEngine> {
  const server = await startPostgres({
    more: ['shared_preload_libraries=pg_stat_statements', 'pg_stat_statements.max=50000'],
  });
  const counter = new pg.Client({ connectionString: server.url });
  counter.on('error', () => undefined);
  try {
    await counter.connect();
    await counter.query('create extension pg_stat_statements schema public');
  } catch (error) {
    await server.close();
    throw error;
  }

  async function counted(): Promise<readonly CountedStatement[]> {
    const { rows } = await counter.query(countedStatements);
    return rows.map(({ query, ...counts }) => ({
      query,
      ...{ calls: Number(counts.calls), rows: Number(counts.rows), pages: Number(counts.pages) },
    }));
  }

  return {
    // A list of 20 by an index takes as much.
    leastWork: 60,
    async make(directory, size) {
      mkdirSync(directory, { recursive: true });
      const url = await schemaUrl(server.url, `growth_${size}`);
      await filled({ kind: 'postgres', directory, url }, size);
      // As autovacuum does it in time.
      await onServer(server.url, 'vacuum analyze');
      let before = new Map<string, CountedStatement>();
      return {
        environment: { KIPIMO_DATABASE_URL: url },
        nodeFlags: [],
        async work() {
          const now = await counted();
          const worst = now.map(({ query, rows, pages }) => ({
            sql: query,
            rows: rows - (before.get(query)?.rows ?? 0),
            pages: pages - (before.get(query)?.pages ?? 0),
          }));
          worst.sort((a, b) => b.pages + b.rows - a.pages - a.rows);
          before = new Map(now.map((one) => [one.query, one]));
          const sum = (key: 'calls' | 'rows' | 'pages') =>
            now.reduce((all, one) => all + one[key], 0);
          return { statements: sum('calls'), rows: sum('rows'), pages: sum('pages'), worst };
        },
      };
    },
    async close() {
      await counter.end();
      await server.close();
    },
  };
}
