import { existsSync, statSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import { pragmaNumber, withoutWaiting } from './connection.ts';
import { sqliteLimits } from './sqlite-limits.ts';

/** When and how much space goes back to the disk; tests shrink it. */
export type SpaceLimits = Readonly<Record<keyof typeof sqliteLimits.space, number>>;

/**
 * Gives free pages, and the space of a write-ahead log that no reader needs, back to the disk:
 * works on the connection of the writer, in steps of a few milliseconds, when nothing was written
 * for a moment; while it is busy only where a good part of a large file is free. A file that was
 * made without auto_vacuum keeps its pages: `kipimo compact` makes it anew.
 */
export function createSpaceKeeper(
  database: DatabaseSync,
  path: string,
  limits: SpaceLimits = sqliteLimits.space,
) {
  const numberOf = (name: string): number => pragmaNumber(database, name);
  const incremental = 2;
  const givesBack = numberOf('auto_vacuum') === incremental;
  let touchedAt = performance.now();
  let timer: NodeJS.Timeout | undefined;
  let pagesPerStep = limits.pagesPerStepMin;
  let isUnderWay = false;

  function arm(delayMs: number): void {
    timer ??= setTimeout(() => {
      timer = undefined;
      const nextMs = look();
      if (nextMs !== undefined) arm(nextMs);
    }, delayMs);
  }

  /** Works and answers when to work again; undefined: when the writer did something. */
  function look(): number | undefined {
    const quietMs = performance.now() - touchedAt;
    try {
      const isQuiet = quietMs >= limits.quietMs;
      if (givesBack && isStepDue(isQuiet)) {
        giveBack();
        return isQuiet ? limits.pauseMs : limits.pauseWhileBusyMs;
      }
      if (!isQuiet) return limits.quietMs - quietMs;
      if (walBytes() <= limits.walRestBytes) return undefined;
      if (quietMs < limits.walQuietMs) return limits.walQuietMs - quietMs;
      return shrinkLog() ? undefined : limits.walQuietMs;
    } catch {
      // Another process writes, or the disk is full: both end, and there is no hurry.
      return limits.retryMs;
    }
  }

  function isStepDue(isQuiet: boolean): boolean {
    const free = numberOf('freelist_count');
    if (!isQuiet) return free >= limits.freePagesWhileBusy && free * 4 >= numberOf('page_count');
    // A few are kept for what comes next: giving back and taking again is work, too.
    if (free === 0) isUnderWay = false;
    else if (free >= limits.freePagesMin) isUnderWay = true;
    return isUnderWay;
  }

  function giveBack(): void {
    const startedAt = performance.now();
    // A vacuum acknowledges no write, so the next commit may sync it.
    withoutWaiting(database, 'synced later', () =>
      database.exec(`pragma incremental_vacuum(${pagesPerStep})`),
    );
    const tookMs = performance.now() - startedAt;
    const next = Math.round(pagesPerStep * (limits.stepMs / Math.max(tookMs, 0.1)));
    pagesPerStep = Math.max(
      limits.pagesPerStepMin,
      Math.min(next, 2 * pagesPerStep, limits.pagesPerStepMax),
    );
  }

  function walBytes(): number {
    const wal = `${path}-wal`;
    return existsSync(wal) ? statSync(wal).size : 0;
  }

  /** Answers whether it could: a long read needs the log as it is. */
  function shrinkLog(): boolean {
    return withoutWaiting(database, 'synced', () => {
      const statement = database.prepare('pragma wal_checkpoint(truncate)');
      return Number(statement.get()?.['busy']) === 0;
    });
  }

  arm(limits.quietMs);
  return {
    /** The writer did something: it is not at rest. */
    touch(): void {
      touchedAt = performance.now();
      arm(limits.quietMs);
    },
    stop(): void {
      clearTimeout(timer);
      timer = undefined;
    },
  };
}
