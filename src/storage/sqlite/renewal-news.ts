import type { Reporter } from '../../domain/reporter.ts';
import type { Log } from '../../lib/log.ts';
import type { RenewalReport } from './background-renewal.ts';

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
