import type { DatabaseSync } from 'node:sqlite';
import type { Reporter } from '../../domain/reporter.ts';
import type { Log } from '../../lib/log.ts';
import type { ChunkLimits } from '../chunks/chunk-store.ts';
import { sqliteLimits } from './sqlite-limits.ts';
import { createChunkRenewal, type RenewalFigures } from './timeseries/chunk-renewal.ts';

/** A report on renewal, published whenever it changed. */
export interface RenewalReport extends Readonly<RenewalFigures> {
  /** Whether a walk through all chunks came to its end. */
  readonly isOver: boolean;
  /** Why it did not, if it failed. */
  readonly problem?: string;
}

/**
 * Renews chunks in steps of a few milliseconds when nothing was written for a moment, and in fewer
 * steps when the writer never rests. What was not committed when the process ended is done again.
 */
export function createBackgroundRenewal(options: {
  readonly database: DatabaseSync;
  readonly chunks: ChunkLimits;
  readonly tell: (report: RenewalReport) => void;
  /** Something was written. */
  readonly onWritten: () => void;
  /** When the writer last carried out a call, by `performance.now()`. */
  readonly calledAt: () => number;
  /** When chunks are renewed; tests shrink it. */
  readonly times?: Readonly<Record<keyof typeof sqliteLimits.renewal, number>>;
}) {
  const { database, chunks, tell, onWritten, calledAt, times = sqliteLimits.renewal } = options;
  const renewal = createChunkRenewal(database, chunks);
  const lastChunk = database.prepare("select seq from sqlite_sequence where name = 'chunks'");
  let walk: Generator<void, boolean> | undefined;
  let walkedThrough = Number.NEGATIVE_INFINITY;
  let told = '';
  let timer: NodeJS.Timeout | undefined;

  const lastChunkId = (): number => Number(lastChunk.get()?.['seq'] ?? 0);

  function arm(delayMs: number): void {
    timer = setTimeout(() => arm(look()), delayMs);
  }

  /** Works and answers when to work again. */
  function look(): number {
    try {
      if (walk === undefined && lastChunkId() < walkedThrough + times.againChunks) {
        return times.againMs;
      }
      walk ??= renewal.walk();
      const isOver = takeStep(walk);
      if (isOver === undefined) {
        const quietMs = performance.now() - calledAt();
        return quietMs >= times.quietMs ? times.pauseMs : times.pauseWhileBusyMs;
      }
      walk = undefined;
      if (isOver) walkedThrough = lastChunkId();
      return isOver ? times.againMs : times.retryMs;
    } catch (error) {
      // Another process writes, or the disk is full: both end, and there is no hurry.
      walk = undefined;
      report({ isOver: false, problem: error instanceof Error ? error.message : String(error) });
      return times.retryMs;
    }
  }

  /** Answers how the walk ended, if it did. */
  function takeStep(current: Generator<void, boolean>): boolean | undefined {
    const until = performance.now() + times.stepMs;
    const { replaced } = renewal.figures;
    let step = current.next();
    while (step.done !== true && performance.now() < until) step = current.next();
    if (renewal.figures.replaced > replaced) onWritten();
    report({ isOver: step.done === true && step.value });
    return step.done === true ? step.value : undefined;
  }

  function report(rest: Pick<RenewalReport, 'isOver' | 'problem'>): void {
    const next: RenewalReport = { ...renewal.figures, ...rest };
    const text = JSON.stringify(next);
    if (text === told) return;
    told = text;
    tell(next);
  }

  arm(times.startMs);
  return { stop: () => clearTimeout(timer) };
}

/** Logs when chunks begin to be renewed, and how it ended; counts in between. */
export function createRenewalNews(options: {
  readonly log: Log;
  readonly reporter: Pick<Reporter, 'chunksRenewed'>;
}): (report: RenewalReport) => void {
  const { log, reporter } = options;
  const nothing = { replaced: 0, made: 0, bytesBefore: 0, bytesAfter: 0 };
  let before = nothing;
  let startedAt: number | undefined;
  let unreadableTold = 0;
  let problemTold: string | undefined;

  return (report) => {
    const { replaced, made, bytesBefore, bytesAfter, left, unreadable, isOver, problem } = report;
    reporter.chunksRenewed({ replaced, left, unreadable });
    if (startedAt === undefined && replaced > before.replaced) {
      startedAt = performance.now();
      log.info({ left }, 'chunks of datapoints are written anew in the background');
    }
    if (problem !== undefined && problem !== problemTold) {
      log.warn({ reason: problem }, 'chunks of datapoints cannot be written anew now');
    }
    problemTold = problem;
    if (!isOver) return;
    if (startedAt !== undefined) {
      log.info(
        {
          chunks: replaced - before.replaced,
          made: made - before.made,
          bytesBefore: bytesBefore - before.bytesBefore,
          bytesAfter: bytesAfter - before.bytesAfter,
          seconds: Math.round(performance.now() - startedAt) / 1_000,
        },
        'chunks of datapoints were written anew',
      );
    }
    if (unreadable > unreadableTold) {
      log.error({ chunks: unreadable }, 'chunks cannot be read and stay as they are');
    }
    unreadableTold = unreadable;
    before = { replaced, made, bytesBefore, bytesAfter };
    startedAt = undefined;
  };
}
