import { closeSync, fdatasyncSync, fsyncSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { createLatencyHistogram } from './latency-histogram.ts';
import { alternate, type Figures, median, type Pace, summarize } from './rounds.ts';

/** What the disk itself takes to keep a little that is written, one after the other. */
export interface DiskSync extends Disposable {
  /** Writes and syncs for so long; rejects when the run is stopped. */
  slice(durationMs: number, signal: AbortSignal): Promise<Figures>;
}

/** A page with its head, as SQLite writes one for a small commit. */
const writtenBytes = 4_120;
/** The file is written anew from its start, as the log of the database is: its length stays. */
const pages = 1_000;

/** Opens a file for it in `directory`, which should be on the disk that the service writes to. */
export function openDiskSync(directory: string): DiskSync {
  const file = openSync(join(directory, 'sync-time'), 'w');
  const page = Buffer.alloc(writtenBytes, 0x5a);
  for (let at = 0; at < pages; at += 1) writeSync(file, page, 0, writtenBytes, at * writtenBytes);
  fsyncSync(file);
  let written = 0;

  function syncOnce(): number {
    const startedAt = performance.now();
    written += 1;
    page.writeUInt32LE(written >>> 0);
    writeSync(file, page, 0, writtenBytes, (written % pages) * writtenBytes);
    fdatasyncSync(file);
    return performance.now() - startedAt;
  }

  return {
    async slice(durationMs, signal) {
      const latencies = createLatencyHistogram();
      const startedAt = performance.now();
      while (performance.now() - startedAt < durationMs) {
        signal.throwIfAborted();
        latencies.record(syncOnce());
        await turn();
      }
      return {
        perSecond: (latencies.count * 1_000) / (performance.now() - startedAt),
        p50Ms: latencies.quantile(0.5),
        p99Ms: latencies.quantile(0.99),
      };
    },
    [Symbol.dispose]: () => closeSync(file),
  };
}

/** Something done one after the other, and in turns with it what the disk itself takes. */
export interface BesideDisk {
  readonly ours: Figures;
  readonly disk: Figures;
  /** How much longer half of ours took, in milliseconds: the median over neighbouring slices. */
  readonly moreMs: number;
}

/** Measures in alternating slices; the first pair is thrown away. */
export async function compareWithDisk(options: {
  readonly disk: DiskSync;
  readonly ours: (durationMs: number) => Promise<Figures>;
  readonly pace: Pace;
  readonly signal: AbortSignal;
}): Promise<BesideDisk> {
  const { disk, ours, pace, signal } = options;
  const pairs = await alternate({
    rounds: pace.rounds,
    ours: () => ours(pace.sliceMs),
    theirs: () => disk.slice(pace.sliceMs, signal),
  });
  const { ours: figures, theirs } = summarize(pairs);
  const moreMs = median(pairs.map((pair) => pair.ours.p50Ms - pair.theirs.p50Ms));
  return { ours: figures, disk: theirs, moreMs };
}
