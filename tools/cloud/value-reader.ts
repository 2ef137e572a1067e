import {
  createArraySplitter,
  type ElementText,
  textOfElement,
} from '../../src/http/body-elements.ts';
import type { Instant } from '../../src/lib/clock.ts';
import { isJsonObject, JsonError, type JsonValue, parseJson } from '../../src/lib/json.ts';
import { parseTimestamp } from '../../src/lib/timestamp.ts';
import { type ApiClient, UnreachableError } from '../client/api-client.ts';
import { cloudLimits, remoteLimits } from './cloud-limits.ts';

/** Where a read goes on: from this time, after so many datapoints of the answer. */
export interface Position {
  readonly from?: string;
  readonly skip: number;
}

/** A datapoint as the other service answered it. */
export interface SourceDatapoint {
  readonly value: JsonValue;
  readonly timestamp?: string;
  /** The timestamp, else the time of receipt; undefined when the service tells neither. */
  readonly orderTime: Instant | undefined;
  /** Of the first datapoint at an order time: where a read that begins with it goes on. */
  readonly start?: Position;
  /** Why it cannot be copied. */
  readonly problem?: string;
}

/** The service will not hand over the datapoints of this sensor. */
export class ReadRefusedError extends Error {}

/**
 * All datapoints of a sensor from a position on, oldest first and raw, as they arrive. A read that
 * breaks goes on where it broke; pages may be as short as the service likes. Throws
 * ReadRefusedError, or UnreachableError when it gives up.
 */
export async function* readValues(options: {
  readonly remote: ApiClient;
  /** Of the sensor. */
  readonly path: string;
  readonly start: Position;
  readonly onTotal: (remaining: number) => void;
}): AsyncGenerator<readonly SourceDatapoint[]> {
  const { remote, path, onTotal } = options;
  const cursor = createCursor(options.start);
  let limit: number = cloudLimits.valuesPerReadMax;
  let failures = 0;
  let lastFirst: string | undefined;
  while (true) {
    const page = cursor.openPage();
    try {
      const stream = await remote.open(`${path}/values?${queryOf(page, limit)}`);
      if (stream.status === 400 && limit > 1_000) {
        await stream.reason();
        limit = 1_000;
        continue;
      }
      if (stream.status !== 200) throw new ReadRefusedError(await stream.reason());
      if (stream.total !== undefined) onTotal(Math.max(0, stream.total - page.skip));
      let first: string | undefined;
      const splitter = createArraySplitter(cloudLimits.datapointBytesMax);
      for await (const piece of stream.pieces) {
        const elements = splitter.push(piece).map(textOfElement);
        first ??= typeof elements[0] === 'string' ? elements[0] : undefined;
        if (elements.length > 0) yield elements.map(cursor.take);
      }
      splitter.end();
      if (cursor.taken === 0) return;
      // Twins, or a service that skips nothing and answers its last page for ever?
      if (first === lastFirst && !(await knowsOffsets(remote, path))) return;
      lastFirst = first;
      failures = 0;
    } catch (reason) {
      if (reason instanceof ReadRefusedError || reason instanceof UnreachableError) throw reason;
      failures = cursor.taken > 0 ? 1 : failures + 1;
      if (isStopped(reason)) throw reason;
      if (failures >= remoteLimits.attemptsMax) {
        throw new ReadRefusedError('every read of it breaks', { cause: reason });
      }
      limit = Math.max(cloudLimits.valuesPerReadMin, Math.floor(limit / 2));
      await remote.pause(failures);
    }
  }
}

/** Whether the service skips what it is told to skip: beyond all datapoints there is nothing. */
async function knowsOffsets(remote: ApiClient, path: string): Promise<boolean> {
  const beyond = queryOf({ skip: cloudLimits.skipMax }, 1);
  const { status, json } = await remote.call({ method: 'GET', path: `${path}/values?${beyond}` });
  return status === 200 && Array.isArray(json) && json.length === 0;
}

/** A run that was stopped, in contrast to a request that took too long. */
const isStopped = (reason: unknown): boolean =>
  reason instanceof DOMException && reason.name === 'AbortError';

function queryOf({ from, skip }: Position, limit: number): string {
  const fields = { limit: String(limit), offset: String(skip), sort: 'asc', calibrated: 'false' };
  const range = from === undefined ? {} : { dateFrom: from };
  return new URLSearchParams({ ...fields, ...range }).toString();
}

interface Cursor {
  /** Begins a page where the last one ended. */
  openPage(): Position;
  take(element: ElementText): SourceDatapoint;
  /** Datapoints of this page so far. */
  readonly taken: number;
}

/**
 * Knows where the next page begins: at the last timestamp, after what was seen there. As long as
 * there are no timestamps, and where they do not ascend, it counts from where it began.
 */
function createCursor(begin: Position): Cursor {
  let page = begin;
  let taken = 0;
  let current = begin;
  let isAscending = true;
  let lastTimestamp: Instant | undefined;
  let runTime: Instant | undefined;
  let runCount = 0;

  const here = (): Position => (isAscending ? current : { ...page, skip: page.skip + taken });

  function advance(timestamp: string | undefined, orderTime: Instant | undefined): void {
    if (timestamp !== undefined && orderTime !== undefined) {
      if (lastTimestamp !== undefined && orderTime < lastTimestamp) isAscending = false;
      const isNew = orderTime !== lastTimestamp;
      lastTimestamp = orderTime;
      // The run may have begun with datapoints that were received at just this time.
      current = isNew
        ? { from: timestamp, skip: runCount }
        : { ...current, skip: current.skip + 1 };
    } else {
      current = { ...current, skip: current.skip + 1 };
    }
    taken += 1;
  }

  return {
    openPage() {
      page = here();
      taken = 0;
      return page;
    },
    take(element) {
      const read = readElement(element);
      const { timestamp, orderTime } = read;
      const isStart = orderTime !== runTime || orderTime === undefined;
      const start = isStart ? here() : undefined;
      runCount = isStart ? 1 : runCount + 1;
      runTime = orderTime;
      advance(timestamp, orderTime);
      return start === undefined ? read : { ...read, start };
    },
    get taken() {
      return taken;
    },
  };
}

function readElement(element: ElementText): SourceDatapoint {
  if (typeof element !== 'string') return broken(`a datapoint is ${element.problem}`);
  const json = parsed(element);
  if (!isJsonObject(json) || !Object.hasOwn(json, 'value')) return broken('it is no datapoint');
  const { value = null, timestamp, date_received: receivedAt } = json;
  if (typeof timestamp === 'string' && timestamp !== '') {
    return { value, timestamp, orderTime: parseTimestamp(timestamp) };
  }
  const orderTime = typeof receivedAt === 'string' ? parseTimestamp(receivedAt) : undefined;
  return { value, orderTime };
}

const broken = (problem: string): SourceDatapoint => ({
  ...{ value: null, orderTime: undefined, problem },
});

function parsed(text: string): JsonValue | undefined {
  try {
    return parseJson(text);
  } catch (reason) {
    // Only this one is left out, and told: the splitter found where the next one begins.
    if (reason instanceof JsonError) return undefined;
    throw reason;
  }
}
