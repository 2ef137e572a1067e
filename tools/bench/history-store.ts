import { type Dirent, readdirSync, statSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { join } from 'node:path';
import { benchLimits } from './bench-limits.ts';
import type { SeriesPoint } from './history-series.ts';

/** What every store is asked, in the order of the report. */
export const historyQueries = [
  'yearByDay',
  'yearByHour',
  'rangeJson',
  'yearCsv',
  'manyByDay',
  'last1',
  'last1000',
] as const;

export type HistoryQuery = (typeof historyQueries)[number];

/** The range of everything that was stored, in ms since 1970; both ends belong to it. */
export interface HistorySpan {
  readonly from: number;
  readonly to: number;
  /** The end of a range of as many datapoints as are asked for as JSON. */
  readonly rangeTo: number;
}

/** One request and what is read of its answer. */
export interface HistoryRequest {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** A store of histories that speaks HTTP, in a process of its own on this machine. */
export interface HistoryStore {
  readonly name: string;
  readonly port: number;
  /** All that it stores is below. */
  readonly directory: string;
  /** Whether it keeps values of this kind at all. */
  takes(kind: string): boolean;
  /** What stores these points; `kind` names the series, `many` one of the crowd. */
  pushOf(kind: string, series: number, points: readonly SeriesPoint[]): HistoryRequest;
  queryOf(query: HistoryQuery, span: HistorySpan): HistoryRequest;
  /** Makes what was pushed visible to queries. */
  settle(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** The name of the crowd among the kinds. */
export const crowdKind = 'many';

export interface HistoryAnswer {
  readonly tookMs: number;
  readonly bytes: number;
  readonly lines: number;
}

/** Sends requests over connections that stay open, and reads answers without keeping them. */
export interface HistoryClient {
  /** Throws when the status is not 2xx. */
  send(to: Pick<HistoryStore, 'name' | 'port'>, message: HistoryRequest): Promise<HistoryAnswer>;
  close(): void;
}

const newline = 0x0a;

/** No connection yet. */
export function createHistoryClient(signal: AbortSignal): HistoryClient {
  const agent = new Agent({ keepAlive: true });
  return {
    send(to, { method, path, headers = {}, body }) {
      signal.throwIfAborted();
      const { promise, resolve, reject } = Promise.withResolvers<HistoryAnswer>();
      const startedAt = performance.now();
      const bytesOfBody = body === undefined ? 0 : Buffer.byteLength(body);
      const sent = request({
        ...{ agent, method, path, signal, host: '127.0.0.1', port: to.port },
        headers: { ...headers, 'content-length': bytesOfBody },
        timeout: benchLimits.answerMs,
      });
      sent.on('timeout', () => sent.destroy(new Error(`${to.name} did not answer`)));
      sent.on('error', reject);
      sent.on('response', (response) => {
        let [bytes, lines, beginning] = [0, 0, ''];
        response.on('data', (chunk: Buffer) => {
          if (bytes === 0) beginning = chunk.toString('utf8', 0, 300);
          bytes += chunk.length;
          for (let at = chunk.indexOf(newline); at >= 0; at = chunk.indexOf(newline, at + 1)) {
            lines += 1;
          }
        });
        response.on('error', reject);
        response.on('end', () => {
          const { statusCode = 0 } = response;
          if (statusCode >= 200 && statusCode < 300) {
            resolve({ tookMs: performance.now() - startedAt, bytes, lines });
          } else {
            reject(new Error(`${to.name} answered ${statusCode} to ${path}: ${beginning}`));
          }
        });
      });
      sent.end(body);
      return promise;
    },
    close: () => agent.destroy(),
  };
}

/** What all files below a directory take, in bytes; those that go meanwhile count nothing. */
export function bytesBelow(directory: string): number {
  let sum = 0;
  for (const entry of entriesOf(directory)) {
    const path = join(directory, entry.name);
    if (entry.isDirectory()) sum += bytesBelow(path);
    else if (entry.isFile()) sum += statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  }
  return sum;
}

/** Empty: the directory has gone, as those of a store that merges its files do. */
function entriesOf(directory: string): readonly Dirent[] {
  try {
    return readdirSync(directory, { withFileTypes: true });
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return [];
    throw error;
  }
}
