import { emptyBatch } from '../../../domain/datapoints/column-batch.ts';
import { DomainError } from '../../../domain/errors.ts';
import type { Log } from '../../../lib/log.ts';
import { encodePushes } from '../../chunks/datapoint-log.ts';
import { createRestTimer, pauseAfter } from '../../flush-timing.ts';
import type { DatapointLimits } from './datapoint-limits.ts';
import type { FlushOrder, FlushReport } from './datapoint-writes.ts';
import type { Memtable } from './memtable.ts';
import { viewRows } from './memtable-columns.ts';
import { lastToKeep, type Series } from './series.ts';

export interface FlusherOptions {
  readonly memtable: Memtable;
  /** Carries out one step on the writer thread. */
  readonly carryOut: (order: FlushOrder) => Promise<FlushReport>;
  readonly limits: DatapointLimits;
  readonly log: Log;
}

/**
 * Moves datapoints from memtable to chunks, one small step at a time, whenever there are too many.
 */
export function createFlusher({ memtable, carryOut, limits, log }: FlusherOptions) {
  const closing = new AbortController();
  const { flushRetryMsMin: minMs, flushRetryMsMax: maxMs } = limits;
  const retry = { minMs, maxMs, signal: closing.signal };
  let running: Promise<void> | undefined;
  let step: Promise<void> = Promise.resolve();
  let trimmedThrough = 0;
  let failures = 0;
  let arrivedAt = Number.NEGATIVE_INFINITY;
  /** The last run left something for the sake of a burst. */
  let isCutShort = false;
  /** A caller waits for what is due. */
  let isWanted = false;
  const calm = createRestTimer(limits.calmMs, start);
  const rest = createRestTimer(limits.restMs, () => {
    memtable.rest();
    startWanted();
  });

  function start(): void {
    if (running !== undefined || closing.signal.aborted || !isWorthStarting()) return;
    running = run().finally(() => {
      running = undefined;
      isWanted = false;
    });
  }

  const hasWork = (): boolean => memtable.isDue() || memtable.doneThrough() > trimmedThrough;
  const isWorthStarting = (): boolean => memtable.isDue() || isCutShort;

  /** Whether the commits of a burst would wait for steps that have time. */
  function isInTheWay(): boolean {
    if (isWanted || performance.now() - arrivedAt >= limits.calmMs) return false;
    return !memtable.isUrgent();
  }

  function startWanted(): void {
    isWanted = true;
    start();
    if (running === undefined) isWanted = false;
  }

  async function run(): Promise<void> {
    while (!closing.signal.aborted && hasWork() && !isInTheWay()) {
      step = takeStep();
      await step;
      if (failures > 0) await pauseAfter(failures, retry);
    }
    isCutShort = hasWork();
  }

  async function takeStep(): Promise<void> {
    let picked: readonly Series[] = [];
    try {
      picked = memtable.freezeDue();
      const trimThrough = memtable.doneThrough();
      const report = await carryOut(orderFor(picked, trimThrough, limits));
      for (const series of picked) memtable.settle(series);
      if (report.trimmed < limits.trimRowsPerStep) trimmedThrough = trimThrough;
      if (report.damaged > 0) {
        log.error({ chunks: report.damaged }, 'chunks cannot be read and were set aside');
      }
      failures = 0;
    } catch (error) {
      memtable.restore(picked);
      failures += 1;
      if (failures === 1) log.error({ err: error }, 'datapoints stay in the log: flushing failed');
    }
  }

  return {
    /** Something arrived: starts if something is due, once no more of a burst is on its way. */
    arrived(): void {
      arrivedAt = performance.now();
      rest.restart();
      if (!isWorthStarting()) return;
      if (isInTheWay()) calm.restart();
      else start();
    },
    /** Starts if something is due and nothing is under way. */
    poke(): void {
      rest.restart();
      startWanted();
    },
    /** Resolves when a step has freed capacity. Throws DomainError unavailable when steps fail. */
    async makeRoom(): Promise<void> {
      if (failures > 0 || closing.signal.aborted) {
        throw new DomainError('unavailable', 'datapoints cannot be moved to their place on disk', {
          retryAfterSeconds: 30,
        });
      }
      startWanted();
      await step;
    },
    /** Resolves when no step is under way; nothing starts after this. */
    async close(): Promise<void> {
      rest.stop();
      calm.stop();
      closing.abort();
      await running;
    },
  };
}

export type Flusher = ReturnType<typeof createFlusher>;

function orderFor(
  picked: readonly Series[],
  trimThrough: number,
  limits: DatapointLimits,
): FlushOrder {
  const pushes = picked.map(({ number, flushed, frozen }) => ({
    series: number,
    sequenceNumber: flushed,
    batch: frozen === undefined ? emptyBatch : viewRows(frozen.columns, 0, frozen.count),
  }));
  const lasts = picked.map((series) => ({
    series: series.number,
    sequenceNumber: 0,
    batch: lastToKeep(series),
  }));
  return { pushes: encodePushes(pushes), lasts: encodePushes(lasts), trimThrough, limits };
}
