// How the work of each request grows with what others have: the same requests to an installation of
// 300 devices and to one of 10,000, in which those who ask have the same.
//
// Work is what statements do: the pages that they read (of 512 bytes on SQLite, where none is kept
// in memory, of 8 KiB on PostgreSQL), the rows that they answer or change, and the statements
// themselves. It is counted, not timed, so a busy machine answers the same. It leaves out what
// JavaScript does in memory.
//
// node bench/growth.ts [a part of a name] [--sizes 300,10000] [--why] [--postgres]
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { quickFolder } from '../test/quick-folder.ts';
import { startProcess } from '../test/service-process.ts';
import { type GrowthEngine, openPostgresGrowth, sqliteGrowth } from './growth-engines.ts';
import { askers, growthPassword } from './growth-installation.ts';
import { type GrowthRoute, growthRoutes, nameOf } from './growth-routes.ts';
import type { StatementWork } from './statement-meter.ts';

const adminPassword = 'admin-password-1';

/** Work of a request: the least of its runs, since others may read in the background. */
interface Measured {
  readonly status: number;
  readonly work: number;
  readonly ms: number;
  readonly worst: StatementWork['worst'];
}

const runs = 3;

/** Counts the work of each route on an installation of so many devices. */
async function measure(
  engine: GrowthEngine,
  directory: string,
  size: number,
  routes: readonly GrowthRoute[],
): Promise<readonly Measured[]> {
  const { environment, nodeFlags, work: workOf } = await engine.make(directory, size);
  await using service = await startProcess({
    directory,
    environment: { ...environment, KIPIMO_ADMIN_PASSWORD: adminPassword },
    nodeFlags,
  });
  const workSoFar = (): Promise<StatementWork> => workOf(service.pid);

  const sumOf = ({ statements, rows, pages }: StatementWork): number => statements + rows + pages;

  async function ask({ who, method, path, body }: GrowthRoute, run: number) {
    const token = tokens.get(who);
    const url = `${service.url}${path.startsWith('/write') ? '' : '/api/v2'}`;
    const isJson = body !== undefined && /^[[{]/.test(body);
    return fetch(url + path.replaceAll('#', `${run}`), {
      method,
      headers: {
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
        ...(body !== undefined && { 'content-type': isJson ? 'application/json' : 'text/plain' }),
      },
      ...(body !== undefined && { body: body.replaceAll('#', `${run}`) }),
    });
  }

  const tokens = new Map<string, string>();
  for (const username of [...askers, 'admin']) {
    const password = username === 'admin' ? adminPassword : growthPassword;
    const body = JSON.stringify({ username, password });
    const login = await ask({ who: 'guest', method: 'POST', path: '/auth/token', body }, 0);
    tokens.set(username, await login.text());
  }

  const measured: Measured[] = [];
  for (const route of routes) {
    let least: Measured | undefined;
    // What must grow takes long, and is only told.
    const last = route.growsBecause === undefined ? runs : 1;
    for (let run = 1; run <= last; run += 1) {
      const before = sumOf(await workSoFar());
      const startedAt = performance.now();
      const answer = await ask(route, run);
      const text = await answer.text();
      const ms = performance.now() - startedAt;
      if (answer.status >= 400) throw new Error(`${nameOf(route)}: ${answer.status} ${text}`);
      const after = await workSoFar();
      const work = sumOf(after) - before;
      if (least === undefined || work < least.work) {
        least = { status: answer.status, work, ms, worst: after.worst };
      }
    }
    if (least !== undefined) measured.push(least);
  }
  return measured;
}

/** A route with its work on the smallest and on the largest installation. */
export interface Grown {
  readonly route: GrowthRoute;
  readonly status: number;
  readonly small: number;
  readonly large: number;
  readonly ratio: number;
  readonly ms: readonly [number, number];
  readonly worst: StatementWork['worst'];
}

/** Whether it grows more than it may. */
export const isTooMuch = ({ route, ratio }: Grown): boolean =>
  ratio > ratioMax && route.growsBecause === undefined;

export const ratioMax = 2;

/** Counts the work of all routes whose name has this part, on two installations. */
export async function grow(
  [small, large]: readonly [number, number],
  part = '',
  engine: GrowthEngine = sqliteGrowth,
): Promise<readonly Grown[]> {
  const routes = growthRoutes().filter((route) => nameOf(route).includes(part));
  const directory = mkdtempSync(join(quickFolder() ?? tmpdir(), 'kipimo-growth-'));
  try {
    const ofSmall = await measure(engine, join(directory, 'small'), small, routes);
    const ofLarge = await measure(engine, join(directory, 'large'), large, routes);
    return routes.flatMap((route, at): readonly Grown[] => {
      const [one, other] = [ofSmall[at], ofLarge[at]];
      if (one === undefined || other === undefined) return [];
      const { leastWork } = engine;
      const ratio = Math.max(other.work, leastWork) / Math.max(one.work, leastWork);
      const { status, worst } = other;
      const ms = [one.ms, other.ms] as const;
      return [{ ...{ route, status, worst, ratio, ms }, small: one.work, large: other.work }];
    });
  } finally {
    rmSync(directory, { recursive: true, force: true });
    await engine.close();
  }
}

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    options: {
      sizes: { type: 'string', default: '300,10000' },
      why: { type: 'boolean' },
      postgres: { type: 'boolean' },
    },
    allowPositionals: true,
  });
  const [small = 300, large = 10_000] = values.sizes.split(',').map(Number);
  const engine = values.postgres === true ? await openPostgresGrowth() : sqliteGrowth;
  const all = await grow([small, large], positionals[0], engine);
  console.log(`ratio  at ${small}  at ${large}   ms (one request each)`);
  for (const { route, status, small: one, large: other, ratio, ms, worst } of all) {
    const numbers = [ratio.toFixed(1).padStart(5), `${one}`.padStart(8), `${other}`.padStart(8)];
    const times = ms.map((one) => one.toFixed(1).padStart(6)).join(' ');
    const reason = ratio > ratioMax && route.growsBecause ? `: ${route.growsBecause}` : '';
    console.log(`${numbers.join(' ')} ${times}  ${nameOf(route)}  ${status}${reason}`);
    if (values.why !== true || ratio <= ratioMax) continue;
    for (const { sql, pages, rows } of worst.slice(0, 3)) {
      console.log(
        `      ${pages} pages, ${rows} rows: ${sql.replaceAll(/\s+/g, ' ').slice(0, 300)}`,
      );
    }
  }
}

if (import.meta.main) await main();
