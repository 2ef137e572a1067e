import { isRecord } from '../../src/lib/record.ts';
import { formatTimestamp } from '../../src/lib/timestamp.ts';
import { type ApiClient, type BulkAnswer, reasonOf } from '../client/api-client.ts';
import { cloudLimits } from './cloud-limits.ts';
import type { Checkpoint, ProgressFile } from './progress-file.ts';
import { createStamps } from './stamps.ts';
import type { Tally } from './tally.ts';
import {
  type Position,
  ReadRefusedError,
  readValues,
  type SourceDatapoint,
} from './value-reader.ts';

/** One sensor whose values are to be copied. */
export interface SensorName {
  readonly deviceId: string;
  readonly sensorId: string;
}

export interface CopyOptions {
  readonly source: ApiClient;
  readonly target: ApiClient;
  readonly progress: ProgressFile;
  readonly tally: Tally;
  /** Default: what the limits say. */
  readonly linesPerPush?: number;
}

/**
 * Copies the values of one sensor, those that were copied before an interruption excepted. Values
 * without a timestamp get the time at which they were received. What cannot be copied is counted.
 */
export async function copyValues(
  sensor: SensorName,
  options: CopyOptions,
  onProgress: (share: number) => void,
): Promise<void> {
  const { source, target, progress, tally } = options;
  const name = `${sensor.deviceId}/${sensor.sensorId}`;
  const path = pathOf(sensor);
  const checkpoint = await stillValid(progress.find(name), target, path);
  const there = await countAt(target, path);
  const batch = createBatch(sensor, options.linesPerPush ?? cloudLimits.linesPerPush);
  const sent = { stored: 0, lines: 0, refused: 0 };
  let remaining = 0;

  /** Answers whether it makes sense to go on. */
  async function flush(): Promise<boolean> {
    const { lines, text, checkpoint: reached } = batch.take();
    if (lines === 0) return true;
    const answer = await pushLines(target, text);
    sent.lines += lines;
    sent.stored += answer.stored;
    sent.refused += answer.refused_count;
    const [refusal] = answer.refused;
    if (refusal !== undefined) {
      tally.skipped('values', `of ${name}`, refusal.description, answer.refused_count);
    }
    if (reached !== undefined) await progress.set(name, reached);
    onProgress(remaining > 0 ? Math.min(1, sent.lines / remaining) : 0);
    const isClosed = refusal?.error === 'forbidden' || refusal?.error === 'not_found';
    return !(isClosed && answer.stored === 0);
  }

  try {
    const start: Position = checkpoint ?? { skip: 0 };
    const onTotal = (count: number) => {
      remaining ||= count;
    };
    reading: for await (const step of readValues({ remote: source, path, start, onTotal })) {
      for (const datapoint of step) {
        const problem = batch.add(datapoint);
        if (problem !== undefined) tally.skipped('values', `of ${name}`, problem);
        if (batch.isFull && !(await flush())) break reading;
      }
    }
    await flush();
  } catch (reason) {
    if (!(reason instanceof ReadRefusedError)) throw reason;
    await flush();
    tally.skipped('values', `of ${name}`, `they cannot be read: ${reason.message}`);
  }
  await countStored(sent.stored, there, { target, path, tally });
  onProgress(1);
}

/** Tells what is new from what had been there: a push answers both as stored. */
async function countStored(
  stored: number,
  before: number | undefined,
  at: { readonly target: ApiClient; readonly path: string; readonly tally: Tally },
): Promise<void> {
  if (stored === 0) return;
  const after = await countAt(at.target, at.path);
  const grown = before === undefined || after === undefined ? stored : after - before;
  const copied = Math.max(0, Math.min(stored, grown));
  at.tally.copied('values', copied);
  at.tally.already('values', stored - copied);
}

const pathOf = ({ deviceId, sensorId }: SensorName): string =>
  `/devices/${encodeURIComponent(deviceId)}/sensors/${encodeURIComponent(sensorId)}`;

async function countAt(target: ApiClient, path: string): Promise<number | undefined> {
  const { status, total } = await target.call({ method: 'GET', path: `${path}/values?limit=0` });
  return status === 200 ? total : undefined;
}

/** The checkpoint, unless the values before it are gone, as in another database. */
async function stillValid(
  checkpoint: Checkpoint | undefined,
  target: ApiClient,
  path: string,
): Promise<Checkpoint | undefined> {
  if (checkpoint === undefined) return undefined;
  const { seen } = checkpoint;
  const query = new URLSearchParams({ dateFrom: seen, dateTo: seen, limit: '1' }).toString();
  const { json } = await target.call({ method: 'GET', path: `${path}/values?${query}` });
  return Array.isArray(json) && json.length > 0 ? checkpoint : undefined;
}

async function pushLines(target: ApiClient, lines: string): Promise<BulkAnswer> {
  const answer = await target.call({ method: 'POST', path: '/sensors_data?import=true', lines });
  if (answer.status === 200 && isRecord(answer.json)) return answer.json as unknown as BulkAnswer;
  throw new Error(`${target.url} does not take the values: ${reasonOf(answer)}`);
}

/** Collects the lines of one push, and how far they reach. */
function createBatch({ deviceId, sensorId }: SensorName, linesMax: number) {
  const head = `{"device_id":${JSON.stringify(deviceId)},"sensor_id":${JSON.stringify(sensorId)},`;
  const stamps = createStamps();
  let parts: string[] = [];
  let characters = 0;
  let checkpoint: Checkpoint | undefined;
  let seen: string | undefined;

  function stampOf({ orderTime, timestamp }: SourceDatapoint, value: string): string | undefined {
    if (timestamp !== undefined) return timestamp;
    return orderTime === undefined ? undefined : formatTimestamp(stamps.stamp(orderTime, value));
  }

  return {
    /** Answers why it cannot be copied; nothing when it can. */
    add(datapoint: SourceDatapoint): string | undefined {
      const { orderTime, start, problem } = datapoint;
      if (problem !== undefined) return problem;
      if (start !== undefined && orderTime !== undefined) {
        stamps.begin(orderTime);
        if (stamps.isFresh && seen !== undefined) checkpoint = { ...start, seen };
      }
      const value = JSON.stringify(datapoint.value);
      const stamp = stampOf(datapoint, value);
      if (stamp === undefined) return 'it has neither timestamp nor date_received';
      seen = stamp;
      const line = `${head}"value":${value},"timestamp":${JSON.stringify(stamp)}}\n`;
      parts.push(line);
      characters += line.length;
      return undefined;
    },
    get isFull() {
      return parts.length >= linesMax || characters >= cloudLimits.charactersPerPush;
    },
    take() {
      const taken = { lines: parts.length, text: parts.join(''), checkpoint };
      parts = [];
      characters = 0;
      return taken;
    },
  };
}
