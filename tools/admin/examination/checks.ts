import { setTimeout as wait } from 'node:timers/promises';
import type { SqlSession, Value } from '../../../src/storage/sql/session.ts';

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

/** The stored numbers of one series, as one commit left them. */
export interface StoredSeries {
  readonly name: string;
  /** How many datapoints were put into chunks. */
  readonly sealed: number;
  /** How many are in chunks, set aside, and taken by retention. */
  readonly held: number;
  readonly aside: number;
  readonly gone: number;
  /** Chunks that overlap the one before. */
  readonly mixed: number;
}

/** Whether a series has as many datapoints in chunks as were put there, in their order. */
export function checkSeries(
  { name, sealed, held, aside, gone, mixed }: StoredSeries,
  { damage }: Findings,
): void {
  const due = sealed - gone;
  if (held + aside < due) {
    damage('counts', `Of ${name} ${due - held - aside} datapoints of ${due} are missing.`);
  } else if (held > due) {
    damage('counts', `${name} has ${held} datapoints in chunks, and counts ${due}.`);
  }
  if (mixed > 0) {
    damage('order', `${mixed} chunks of ${name} overlap the one before: reads mix them up.`);
  }
}

/** damage: stored data is wrong. warning: it is, or becomes, a trouble. note: worth knowing. */
type FindingLevel = 'damage' | 'warning' | 'note';

/** A problem or a fact that an examination found. */
export interface Finding {
  readonly level: FindingLevel;
  /** Which check found it. */
  readonly check: string;
  readonly sentence: string;
  /** The action to take, as one sentence. */
  readonly remedy: string;
}

const perCheckMax = 10;

export const restoreBackup =
  'Restore a backup made before it happened, and have disk and memory of the machine tested.';

export const deleteAside =
  'Restore a backup to have them back, or delete them from the table to do without.';

/** Collects findings; of one check a few, and then how many more there are. */
export type Findings = ReturnType<typeof createFindings>;

/** Begins without any finding. */
export function createFindings() {
  const byCheck = new Map<string, { readonly kept: Finding[]; count: number }>();

  const adding =
    (level: FindingLevel) =>
    (check: string, sentence: string, remedy = restoreBackup): void => {
      const of = byCheck.get(check) ?? { kept: [], count: 0 };
      byCheck.set(check, of);
      of.count += 1;
      if (of.kept.length < perCheckMax) of.kept.push({ level, check, sentence, remedy });
    };

  function summary({ kept, count }: { readonly kept: readonly Finding[]; count: number }) {
    const [first] = kept;
    if (first === undefined || count <= perCheckMax) return kept;
    return [...kept, { ...first, sentence: `… and ${count - perCheckMax} more like these.` }];
  }

  return {
    damage: adding('damage'),
    warn: adding('warning'),
    note: adding('note'),
    all(): readonly Finding[] {
      const order: readonly FindingLevel[] = ['damage', 'warning', 'note'];
      return [...byCheck.values()]
        .flatMap(summary)
        .toSorted((one, other) => order.indexOf(one.level) - order.indexOf(other.level));
    },
  };
}
