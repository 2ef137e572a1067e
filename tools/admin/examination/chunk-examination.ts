import { setTimeout as wait } from 'node:timers/promises';
import { DamagedBytesError } from '../../../src/storage/chunks/bytes.ts';
import { blocksOf, columnsOf } from '../../../src/storage/chunks/chunk.ts';
import type { Columns } from '../../../src/storage/chunks/columns.ts';
import { decodeSummary, encodeSummary, summarise } from '../../../src/storage/chunks/summary.ts';
import type { SqlSession } from '../../../src/storage/sql/session.ts';
import type { Finding, Findings } from './checks.ts';

/** The results of looking at all that is stored. */
export interface Examination {
  /** Damage first. */
  readonly findings: readonly Finding[];
  /** Whether a service, or another command that needs it alone, uses it. */
  readonly isInUse: boolean;
  /** Of the tables. */
  readonly version: number;
  readonly chunks: number;
  readonly datapointsInChunks: number;
  /** Rows of pushes: of the log of a file, or those of a database that are not in chunks. */
  readonly logRows: number;
  readonly disk: DiskUse | (DiskUse & OwnDisk);
  /** Absent where nothing could be measured. */
  readonly syncs?: SyncRate;
  readonly largest: Largest;
}

/** The disk space that the data takes, and how it grows. */
export interface DiskUse {
  readonly databaseBytes: number;
  /** Datapoints in chunks; absent when there are none. */
  readonly bytesPerDatapoint?: number;
  readonly datapointsPerDay: number;
  readonly bytesPerDay: number;
}

/** The disk of a data directory; that of a database server nobody here knows. */
export interface OwnDisk {
  readonly totalBytes: number;
  readonly freeBytes: number;
  /** Of the database: pages that nothing is in. */
  readonly freePagesBytes: number;
  readonly walBytes: number;
  /** Until the free space reaches the floor, at this rate; undefined: it does not grow. */
  readonly daysLeft?: number;
}

/** How long it takes to keep a small write for good. */
export interface SyncRate {
  readonly count: number;
  readonly medianMs: number;
  readonly p99Ms: number;
}

const pauseMs = 5;
const totalMsMax = 3_000;
const syncMedianMsMax = 50;

/** Writes so many times, for a few seconds at most, and says how long each took. */
export async function measureWrites(
  write: () => Promise<void>,
  writesMax: number,
): Promise<SyncRate> {
  const tookMs: number[] = [];
  const startedAt = performance.now();
  while (tookMs.length < writesMax && performance.now() - startedAt < totalMsMax) {
    const writtenAt = performance.now();
    await write();
    tookMs.push(performance.now() - writtenAt);
    await wait(pauseMs);
  }
  tookMs.sort((one, other) => one - other);
  const quantile = (part: number): number =>
    tookMs[Math.min(tookMs.length - 1, Math.floor(part * tookMs.length))] ?? 0;
  return { count: tookMs.length, medianMs: quantile(0.5), p99Ms: quantile(0.99) };
}

/** Warns where pushes wait for each sync, or each commit. */
export function warnOfSlow(
  { medianMs }: SyncRate,
  what: 'sync' | 'commit',
  { warn }: Pick<Findings, 'warn'>,
  remedy: string,
): void {
  if (medianMs <= syncMedianMsMax) return;
  const sentence = `Every other ${what} takes ${medianMs.toFixed(0)} ms or more`;
  warn('syncs', `${sentence}: pushes wait for it.`, remedy);
}

/** The size of the chunks of one series. */
interface SeriesSize {
  chunks: number;
  datapoints: number;
  bytes: number;
}

/** The sizes of all chunks. */
export interface ChunkSizes {
  readonly series: ReadonlyMap<number, SeriesSize>;
  /** Datapoints in chunks whose time is within the last day, and the last seven. */
  readonly lastDay: number;
  readonly lastWeek: number;
  readonly chunkBytes: number;
}

/** A chunk as it is stored. */
export interface StoredChunk {
  readonly id: number;
  readonly series: number;
  readonly minTime: number;
  readonly maxTime: number;
  readonly count: number;
  readonly bytes: Uint8Array;
}

const dayMs = 86_400_000;
/** Beside its datapoints a chunk takes this in its row and in the index, about. */
const rowBytes = 60;

/** Checks one chunk after the other, and adds up what they take. */
export function createChunkExamination(options: {
  readonly now: number;
  readonly findings: Findings;
  /** Chunks of so many datapoints have a summary. */
  readonly summaryDatapointsMin: number;
  /** The remedies for a wrong summary, and for chunks without any. */
  readonly remedies: { readonly wrong: (chunk: number) => string; readonly missing: string };
}) {
  const { now, findings, summaryDatapointsMin, remedies } = options;
  const series = new Map<number, SeriesSize>();
  let [lastDay, lastWeek, chunkBytes, missing] = [0, 0, 0, 0];

  function measure({ series: number, minTime, maxTime, count, bytes }: StoredChunk): void {
    const size = series.get(number) ?? { chunks: 0, datapoints: 0, bytes: 0 };
    series.set(number, size);
    size.chunks += 1;
    size.datapoints += count;
    size.bytes += bytes.length + rowBytes;
    chunkBytes += bytes.length + rowBytes;
    lastDay += count * shareAfter(now - dayMs, minTime, maxTime, now);
    lastWeek += count * shareAfter(now - 7 * dayMs, minTime, maxTime, now);
  }

  return {
    /** The chunk's datapoints, block by block; undefined: it is damaged, which was told. */
    check(chunk: StoredChunk): readonly Columns[] | undefined {
      measure(chunk);
      const { wrong, blocks } = readWhole(chunk);
      if (wrong === undefined) return blocks;
      const sentence = `${chunk.count} datapoints of series ${chunk.series} cannot be trusted`;
      findings.damage('chunks', `${sentence}: ${wrong}.`);
      return undefined;
    },
    /** Compares the summary of a chunk with what its datapoints, block by block, come to. */
    checkSummary(
      { id, series: number, count }: StoredChunk,
      summary: Uint8Array | null | undefined,
      blocks: readonly Columns[],
    ): void {
      if (!summary) {
        if (count >= summaryDatapointsMin) missing += 1;
        return;
      }
      const wrong = summaryFault(summary, blocks);
      if (wrong === undefined) return;
      const sentence = `What is kept of chunk ${id} of series ${number} for aggregates ${wrong}.`;
      findings.damage('summaries', sentence, remedies.wrong(id));
    },
    /** The sizes of all chunks, once they were checked. */
    finish(): ChunkSizes {
      if (missing > 0) {
        const sentence = `${missing} chunks have no summary: aggregates read their datapoints.`;
        findings.note('summaries', sentence, remedies.missing);
      }
      return { series, lastDay, lastWeek, chunkBytes };
    },
  };
}

/** The totals of all series in chunks. */
export function totalOf({ series }: Pick<ChunkSizes, 'series'>) {
  let [chunks, datapoints] = [0, 0];
  for (const size of series.values()) {
    chunks += size.chunks;
    datapoints += size.datapoints;
  }
  return { chunks, datapoints };
}

/** How fast chunks grow that take so many bytes: a day without devices is no sign of an end. */
export function growthOf(sizes: ChunkSizes, bytes: number) {
  const { datapoints } = totalOf(sizes);
  const datapointsPerDay = Math.round(Math.max(sizes.lastDay, sizes.lastWeek / 7));
  const bytesPerDatapoint = datapoints === 0 ? undefined : bytes / datapoints;
  return {
    ...(bytesPerDatapoint !== undefined && { bytesPerDatapoint }),
    datapointsPerDay,
    bytesPerDay: Math.round(datapointsPerDay * (bytesPerDatapoint ?? 0)),
  };
}

/** The datapoints of a chunk, block by block, or what is wrong with it. */
function readWhole(chunk: StoredChunk): {
  readonly wrong?: string;
  readonly blocks: readonly Columns[];
} {
  const { id } = chunk;
  const blocks: Columns[] = [];
  const fault = (wrong: string) => ({ wrong, blocks });
  try {
    let [seen, latest] = [0, chunk.minTime];
    for (const block of blocksOf(chunk.bytes, String(id))) {
      const columns = columnsOf(block, String(id));
      blocks.push(columns);
      const { count, times } = columns;
      if (seen === 0 && times[0] !== chunk.minTime)
        return fault(`chunk ${id} begins at another time`);
      for (const time of times) {
        if (time < latest) return fault(`the times in chunk ${id} are not in order`);
        latest = time;
      }
      if (count !== block.count)
        return fault(`a block of chunk ${id} has ${count} of ${block.count}`);
      seen += count;
    }
    if (latest !== chunk.maxTime) return fault(`chunk ${id} ends at another time`);
    if (seen !== chunk.count) return fault(`chunk ${id} has ${seen} of them`);
    return { blocks };
  } catch (error) {
    if (!(error instanceof DamagedBytesError)) throw error;
    return fault(withoutPrefix(error));
  }
}

/** The fault of the summary of a chunk that has these blocks. */
function summaryFault(stored: Uint8Array, blocks: readonly Columns[]): string | undefined {
  try {
    // Compared as they are read, whatever wrote the bytes.
    const known = decodeSummary(stored);
    // Summaries of an older version have other stretches than they would be given today.
    const anew = blocks.map((block, at) => summarise(block, known.grains[at]));
    const found = decodeSummary(encodeSummary(anew));
    return JSON.stringify(known) === JSON.stringify(found)
      ? undefined
      : 'is not what its datapoints come to';
  } catch (error) {
    if (!(error instanceof DamagedBytesError)) throw error;
    return `cannot be trusted: ${withoutPrefix(error)}`;
  }
}

const withoutPrefix = ({ message }: DamagedBytesError): string =>
  message.replaceAll('stored bytes are damaged: ', '');

/** Which part of a chunk is newer than a time, when its datapoints lie evenly. */
function shareAfter(from: number, minTime: number, maxTime: number, now: number): number {
  if (maxTime < from || minTime > now) return 0;
  if (maxTime === minTime) return 1;
  return (Math.min(maxTime, now) - Math.max(minTime, from)) / (maxTime - minTime);
}

/** Something with a name, and what it takes. */
export interface SizedPart {
  readonly name: string;
  readonly bytes: number;
  readonly datapoints?: number;
}

/** The parts that take most, largest first. */
export interface Largest {
  readonly tables: readonly SizedPart[];
  /** By what their datapoints take in chunks. */
  readonly devices: readonly SizedPart[];
  readonly sensors: readonly SizedPart[];
}

const shownMax = 5;

const seriesPerStep = 1_000;
const selectNames = `
  select series, device_id as "deviceId", sensor_id as "sensorId"
  from each($1) cross join sensors on series = cast(value as bigint)`;

/** The largest tables, devices and sensors; series that no sensor has are left out. */
export async function largestOf(
  session: SqlSession,
  { series }: ChunkSizes,
  tables: readonly SizedPart[],
): Promise<Largest> {
  const devices = new Map<string, { name: string; bytes: number; datapoints: number }>();
  const sensors: SizedPart[] = [];
  const numbers = Array.from(series.keys(), String);
  for (let from = 0; from < numbers.length; from += seriesPerStep) {
    const some = numbers.slice(from, from + seriesPerStep);
    type Named = { readonly series: number; readonly deviceId: string; readonly sensorId: string };
    for (const row of await session.all<Named>(selectNames, some)) {
      const { deviceId, sensorId } = row;
      const { bytes = 0, datapoints = 0 } = series.get(row.series) ?? {};
      const device = devices.get(deviceId) ?? { name: deviceId, bytes: 0, datapoints: 0 };
      devices.set(deviceId, device);
      device.bytes += bytes;
      device.datapoints += datapoints;
      sensors.push({ name: `${deviceId}/${sensorId}`, bytes, datapoints });
    }
  }
  return { tables: top(tables), devices: top([...devices.values()]), sensors: top(sensors) };
}

const top = (parts: readonly SizedPart[]): readonly SizedPart[] =>
  parts.toSorted((one, other) => other.bytes - one.bytes).slice(0, shownMax);
