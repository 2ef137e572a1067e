import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text as readText } from 'node:stream/consumers';
import { test } from 'node:test';
import { type ServiceProcess, startProcess } from '../service-process.ts';

/**
 * When the process is killed: as soon as a push was answered, when the receiver has got a message,
 * or right after the receiver has taken it.
 */
const moments = ['push answered', 'message asked', 'message taken'] as const;
type Moment = (typeof moments)[number];

const roundsPerMoment = Number(process.env['TEST_CRASH_ROUNDS'] ?? 2);
const pushesPerRound = 8;
/** Each start is so much later than the one before, so that leases of the dead have ended. */
const restartMs = 130_000;
/** All rounds lie within one window. */
const throttlingSeconds = 10 * 86_400;
const looksMax = 5_000;
const password = 'password of the crash test';

interface Push {
  readonly value: number;
  readonly timestamp: string;
  isAnswered: boolean;
}

/** Takes messages; tells what it got by notification, message and delivery. */
async function startReceiver() {
  const got: { notification: string; message: string; id: string }[] = [];
  let onMessage: (moment: Moment) => boolean = () => false;
  const take = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    got.push(JSON.parse(await readText(request)));
    // Never answered: the process was killed.
    if (onMessage('message asked')) return;
    response.end(() => onMessage('message taken'));
  };
  const server = createServer((request, response) => {
    take(request, response).catch((error: Error) => response.destroy(error));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    got,
    watch(listener: (moment: Moment) => boolean): void {
      onMessage = listener;
    },
    [Symbol.dispose]() {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** The program itself, with a clock that runs ahead. */
const startLater = (directory: string, starts: number): Promise<ServiceProcess> =>
  startProcess({
    directory,
    environment: {
      KIPIMO_ADMIN_PASSWORD: password,
      KIPIMO_WEBHOOK_PRIVATE: 'allowed',
      NODE_OPTIONS: `--import=${shiftedClock(starts * restartMs)}`,
    },
  });

const shiftedClock = (ms: number): string =>
  `data:text/javascript,const%20now=Date.now;Date.now=()=>now()+${ms}`;

type Ask = (method: string, path: string, json?: unknown) => Promise<string>;

async function logIn({ url }: ServiceProcess): Promise<Ask> {
  const ask = async (method: string, path: string, json?: unknown, token?: string) => {
    const response = await fetch(`${url}/api/v2${path}`, {
      method,
      headers: {
        'content-type': 'application/json',
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
      },
      ...(json !== undefined && { body: JSON.stringify(json) }),
    });
    const text = await response.text();
    assert.ok(response.ok, `${method} ${path}: ${response.status} ${text}`);
    return text;
  };
  const token = await ask('POST', '/auth/token', { username: 'admin', password });
  return (method, path, json) => ask(method, path, json, token);
}

const action = { usernames: ['admin'], channels: ['webhook'], message: '{TC1}' };
const condition = { devices: ['d'], sensors: ['TC1'], expression: 'TC1 > 0' };

/** Sends what was not answered yet; a client repeats what the process died over. */
async function sendAll(ask: Ask, pushes: readonly Push[], onAnswer: () => void): Promise<void> {
  const sendOne = async (push: Push) => {
    const { value, timestamp } = push;
    await ask('POST', '/devices/d/sensors/TC1/value', { value, timestamp });
    push.isAnswered = true;
    onAnswer();
  };
  await Promise.allSettled(pushes.filter(({ isAnswered }) => !isAnswered).map(sendOne));
}

async function untilSettled(ask: Ask, id: string): Promise<void> {
  for (let look = 0; look < looksMax; look += 1) {
    const text = await ask('GET', `/notifications/${id}/deliveries?limit=1000`);
    const deliveries: { status: string; reason?: string }[] = JSON.parse(text);
    if (deliveries.every(({ status }) => status === 'sent')) return;
  }
  assert.fail(`deliveries of ${id} did not leave`);
}

const timesSent = async (ask: Ask, id: string): Promise<number> =>
  JSON.parse(await ask('GET', `/notifications/${id}`)).times_sent;

/** One notification with a window per round, one without for all rounds. */
interface Story {
  readonly directory: string;
  readonly receiver: Awaited<ReturnType<typeof startReceiver>>;
  readonly pushes: Push[];
  readonly throttled: string[];
  each: string;
  starts: number;
}

async function prepare(story: Story): Promise<void> {
  await using service = await startLater(story.directory, 0);
  const ask = await logIn(service);
  await ask('PUT', '/users/me', { webhook: [story.receiver.url] });
  await ask('POST', '/devices', { id: 'd', sensors: [{ id: 'TC1' }] });
  story.each = await ask('POST', '/notifications', { condition, action });
}

/** Ends what the last kill left, looks at the outcome, and pushes until it is killed. */
async function round(story: Story, moment: Moment | undefined): Promise<void> {
  story.starts += 1;
  await using service = await startLater(story.directory, story.starts);
  const ask = await logIn(service);
  await sendAll(ask, story.pushes, () => undefined);
  assert.ok(story.pushes.every(({ isAnswered }) => isAnswered));
  for (const id of [story.each, ...story.throttled]) await untilSettled(ask, id);
  assert.equal(await timesSent(ask, story.each), story.pushes.length);
  for (const id of story.throttled) assert.equal(await timesSent(ask, id), 1, 'its window held');
  if (moment === undefined) return;
  const throttling = throttlingSeconds;
  story.throttled.push(await ask('POST', '/notifications', { condition, action, throttling }));
  const fresh = Array.from({ length: pushesPerRound }, (_, index): Push => {
    const value = story.pushes.length + index + 1;
    return { value, timestamp: new Date(value * 60_000).toISOString(), isAnswered: false };
  });
  story.pushes.push(...fresh);
  // Which of them it dies at differs from round to round.
  let left = story.starts % pushesPerRound;
  const killAt = (reached: Moment): boolean => {
    if (reached !== moment) return false;
    left -= 1;
    if (left >= 0) return false;
    service.kill('SIGKILL');
    return true;
  };
  story.receiver.watch(killAt);
  await sendAll(ask, fresh, () => killAt('push answered'));
  assert.deepEqual((await service.exited).signal, 'SIGKILL');
  story.receiver.watch(() => false);
}

/** How often each delivery came, by what it said. */
function countRepeats({ receiver, pushes, each, throttled }: Story): number {
  const times = new Map<string, number>();
  const ids = new Map<string, Set<string>>();
  for (const { notification, message, id } of receiver.got) {
    times.set(id, (times.get(id) ?? 0) + 1);
    const key = `${notification} ${notification === each ? message : ''}`;
    ids.set(key, (ids.get(key) ?? new Set()).add(id));
  }
  for (const { value } of pushes) assert.equal(ids.get(`${each} ${value}`)?.size, 1, `${value}`);
  for (const id of throttled) assert.equal(ids.get(`${id} `)?.size, 1, 'one firing per window');
  assert.equal(ids.size, pushes.length + throttled.length);
  for (const [id, count] of times) assert.ok(count <= 2, `delivery ${id} came ${count} times`);
  return [...times.values()].filter((count) => count > 1).length;
}

for (const moment of moments) {
  test(`kill -9 with a ${moment}: no message is lost, none comes thrice`, async (context) => {
    const directory = mkdtempSync(join(tmpdir(), 'kipimo-deliver-'));
    context.after(() => rmSync(directory, { recursive: true }));
    using receiver = await startReceiver();
    const story = { directory, receiver, pushes: [], throttled: [], each: '', starts: 0 };
    await prepare(story);
    for (let count = 0; count < roundsPerMoment; count += 1) await round(story, moment);
    await round(story, undefined);
    const repeats = countRepeats(story);
    const fired = `${story.pushes.length + story.throttled.length} deliveries`;
    context.diagnostic(`${roundsPerMoment} kills, ${fired}, ${repeats} came twice`);
  });
}
