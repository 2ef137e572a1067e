import { setTimeout as wait } from 'node:timers/promises';
import type { SqlSession, Value } from '../sql/session.ts';
import type { Findings } from './finding.ts';

const workMs = 4;

/** Resolves at once, or, when a few milliseconds of work were done, after as long a rest. */
export type Pace = () => Promise<void>;

/** Half of one core, and half of what the disk can do, are left to the service beside. */
export function createPace(): Pace {
  let restedAt = performance.now();
  return async () => {
    const workedMs = performance.now() - restedAt;
    if (workedMs < workMs) return;
    await wait(workedMs);
    restedAt = performance.now();
  };
}

/** The means of an engine to check what is stored, and where its checks put what they find. */
export interface Checks {
  readonly session: SqlSession;
  readonly findings: Findings;
  readonly pace: Pace;
  /** The reason of a failed read, for a sentence. Throws an error that is no damage. */
  readonly reasonOf: (error: unknown) => string;
  /** Runs the reads of one step so that they see the same commit; optional. */
  readonly inSnapshot?: (step: () => Promise<void>) => Promise<void>;
}

/**
 * Reads a table a few rows at a time, each time as it is then: no writer has to wait. `sql` selects
 * the rows after a key; `check` answers the key of a row.
 */
export async function walkRows<Row>(
  { session, findings, pace, reasonOf, inSnapshot = (step) => step() }: Checks,
  rows: { readonly table: string; readonly sql: string; readonly after: readonly Value[] },
  check: (row: Row) => Promise<readonly Value[]>,
): Promise<void> {
  let { after } = rows;
  try {
    for (let isOver = false; !isOver; ) {
      await inSnapshot(async () => {
        const found = await session.all<Row>(rows.sql, ...after);
        for (const row of found) after = await check(row);
        isOver = found.length === 0;
      });
      await pace();
    }
  } catch (error) {
    const sentence = `The table ${rows.table} cannot be read after ${after.join(', ')}`;
    findings.damage('pages', `${sentence}: ${reasonOf(error)}.`);
  }
}
