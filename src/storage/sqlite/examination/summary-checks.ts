import type { DatabaseSync } from 'node:sqlite';
import type { Columns } from '../../chunks/columns.ts';
import { summaryFault } from '../../examination/chunk-examination.ts';
import type { Findings } from '../../examination/finding.ts';
import { datapointLimits } from '../timeseries/datapoint-limits.ts';
import { reasonOf, tablesOf } from './table-checks.ts';

/** Compares what is kept of chunks with what their datapoints come to. */
export interface SummaryChecks {
  /** A chunk that was read, block by block; beside a service it may be gone by now. */
  check(chunk: { readonly id: number; readonly series: number }, blocks: readonly Columns[]): void;
  /** Reports what was missing, once all chunks were checked. */
  finish(): void;
}

const makeAnew = 'Stop the service and run kipimo compact: it makes them anew from the datapoints.';

/**
 * Checks the summaries of chunks that are there. Those of datapoints that are not stored any more,
 * as retention took them away, belong to no chunk: an engine that keeps such summaries checks
 * them in `finish`.
 */
export function createSummaryChecks(database: DatabaseSync, findings: Findings): SummaryChecks {
  if (!tablesOf(database).includes('chunk_summaries')) {
    return { check: () => undefined, finish: () => undefined };
  }
  const read = database.prepare('select summary from chunk_summaries where chunk = ?');
  const isThere = database.prepare('select 1 from chunks where id = ?');
  let missing = 0;

  function check(
    { id, series }: { readonly id: number; readonly series: number },
    blocks: readonly Columns[],
  ): void {
    const stored = read.get(id)?.['summary'];
    if (!(stored instanceof Uint8Array)) {
      const count = blocks.reduce((sum, block) => sum + block.count, 0);
      const isDue = count >= datapointLimits.summaryDatapointsMin;
      if (isDue && isThere.get(id) !== undefined) missing += 1;
      return;
    }
    const wrong = summaryFault(stored, blocks);
    if (wrong === undefined) return;
    findings.add({
      level: 'damage',
      check: 'summaries',
      sentence: `What is kept of chunk ${id} of series ${series} for aggregates ${wrong}.`,
      remedy: makeAnew,
    });
  }

  return {
    check(chunk, blocks) {
      try {
        check(chunk, blocks);
      } catch (error) {
        const sentence = `The summary of chunk ${chunk.id} cannot be read: ${reasonOf(error)}.`;
        findings.add({ level: 'damage', check: 'summaries', sentence, remedy: makeAnew });
      }
    },
    finish() {
      if (missing === 0) return;
      findings.add({
        level: 'note',
        check: 'summaries',
        sentence: `${missing} chunks have no summary: aggregates read their datapoints.`,
        remedy: 'Nothing needs to be done: the service makes them in the background.',
      });
    },
  };
}
