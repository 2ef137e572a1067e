import { setTimeout as wait } from 'node:timers/promises';
import { minute } from '../v2/sensor-endpoint.ts';
import type { History, Sent } from './history.ts';

/** Clients that go on until they are told to stop. */
export interface Load {
  /** No new work; resolves when what is under way was answered or given up. */
  stop(): Promise<void>;
}

export interface HttpTarget {
  readonly name: string;
  readonly url: string;
}

export const deviceId = 'field';
export const sensorPath = (sensor: string): string =>
  `/api/v2/devices/${deviceId}/sensors/${sensor}`;

/** How long a client waits for an answer before it gives up. */
const patienceMs = 15_000;
const usualPauseMs = 20;
const pauseAfterFailureMs = 100;
const readsPauseMs = 250;

/** Sends JSON and answers the status; undefined: there was no answer. */
export async function exchangeJson(
  url: string,
  { method = 'GET', json, token }: { method?: string; json?: unknown; token?: string } = {},
): Promise<{ readonly status: number; readonly json: unknown } | undefined> {
  try {
    const reply = await fetch(url, {
      method,
      signal: AbortSignal.timeout(patienceMs),
      headers: {
        ...(json !== undefined && { 'content-type': 'application/json' }),
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
      },
      ...(json !== undefined && { body: JSON.stringify(json) }),
    });
    const text = await reply.text();
    const isJson = reply.headers.get('content-type')?.includes('json') === true;
    return { status: reply.status, json: isJson ? JSON.parse(text) : text };
  } catch {
    return undefined;
  }
}

/** What a client pushes to, and how. */
export interface PusherOptions {
  readonly sensor: string;
  /** With timestamps it sends again what was not answered, as gateways do. */
  readonly isTimed: boolean;
  /** With this token, which is not valid: all of it is refused. */
  readonly token?: string;
  /** Milliseconds between two values. */
  readonly pauseMs?: number;
  /** Which of several that push to the sensor; each begins at a target of its own. */
  readonly number?: number;
}

/** One client that pushes to a sensor, one value after the other, at each target in turn. */
export function startPusher(
  history: History,
  targets: readonly HttpTarget[],
  { sensor, isTimed, token, pauseMs = usualPauseMs, number = 0 }: PusherOptions,
): Load {
  const name = number === 0 ? sensor : `${sensor}-${number}`;
  let isOver = false;
  let count = 0;
  let at = number;

  async function send(sent: Sent, json: unknown): Promise<void> {
    const target = targets[at % targets.length];
    sent.sends += 1;
    const reply = await exchangeJson(`${target?.url}${sensorPath(sensor)}/value`, {
      ...{ method: 'POST', json },
      ...(token !== undefined && { token }),
    });
    sent.answeredAt = performance.now();
    if (reply?.status === 204) sent.outcome = 'acknowledged';
    else if (reply !== undefined && reply.status !== 503) {
      const isFull = reply.status === 507;
      const isRefused = isFull || (reply.status >= 400 && reply.status < 500);
      // What was unknown before stays so: it may be stored since.
      if (isRefused && sent.sends === 1) sent.outcome = 'refused';
      if (!isFull && (!isRefused || token === undefined)) {
        history.oddities.push(`${sent.mark} was answered ${reply.status}`);
      }
    }
    if (sent.outcome === 'acknowledged') return;
    // To another process, as a balancer would.
    at += 1;
    await wait(pauseAfterFailureMs);
  }

  async function push(): Promise<void> {
    count += 1;
    const mark = `${name}.${count}`;
    const json = { value: mark, ...(isTimed && { timestamp: minute(count) }) };
    const sent: Sent = {
      ...{ by: `pusher of ${name}`, sensor, mark, place: count, isTimed },
      ...{ sentAt: performance.now(), sends: 0, outcome: 'unknown' },
      answeredAt: Number.POSITIVE_INFINITY,
    };
    history.sent.push(sent);
    do await send(sent, json);
    while (isTimed && sent.outcome === 'unknown' && !isOver);
    await wait(pauseMs);
    if (count % 10 === 0) at += 1;
  }

  const ended = (async () => {
    while (!isOver) await push();
  })();
  return {
    async stop() {
      isOver = true;
      await ended;
    },
  };
}

/** All values of a sensor as a process shows them, oldest first; undefined: it did not answer. */
export async function readMarks(url: string, sensor: string): Promise<string[] | undefined> {
  const reply = await exchangeJson(`${url}${sensorPath(sensor)}/values?limit=1000000`);
  if (reply?.status !== 200) return undefined;
  return (reply.json as { value: unknown }[]).map(({ value }) => String(value));
}

/** Reads sensors in turn, at each target in turn. */
export function startReader(
  history: History,
  targets: readonly HttpTarget[],
  sensors: readonly string[],
): Load {
  let isOver = false;
  const ended = (async () => {
    for (let count = 0; !isOver; count += 1) {
      const target = targets[count % targets.length];
      const sensor = sensors[Math.floor(count / targets.length) % sensors.length];
      if (target === undefined || sensor === undefined) return;
      const beganAt = performance.now();
      const marks = await readMarks(target.url, sensor);
      if (marks !== undefined) history.reads.push({ at: target.name, sensor, beganAt, marks });
      await wait(readsPauseMs);
    }
  })();
  return {
    async stop() {
      isOver = true;
      await ended;
    },
  };
}
