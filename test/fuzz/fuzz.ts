import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { WebSocket } from 'ws';
import { dereferenced } from '../dereferenced.ts';
import { adminPassword, type Call, createCall, type Reply } from '../service.ts';
import { type ServiceProcess, startProcess } from '../service-process.ts';
import { httpShot, type Shot, type Surface, surfaceOf } from './http-shots.ts';
import { type MqttCredential, mqttShot } from './mqtt-shots.ts';
import { createRandom, type Random } from './random.ts';

export interface FuzzOptions {
  readonly minutes: number;
  /** What 99 of 100 pushes of the honest client may take at most, in milliseconds. */
  readonly honestMs: number;
  /** The same seed sends the same things, as far as answers do not change them. */
  readonly seed: number;
  readonly print: (line: string) => void;
}

/** What was promised, and what was seen of it. */
export interface Verdict {
  readonly what: string;
  readonly isGood: boolean;
  readonly seen: string;
}

/** A stranger: nobody, or an account with its token. */
interface Stranger extends MqttCredential {
  readonly token?: string;
}

const httpLoops = 12;
const mqttLoops = 6;
const webSocketLoops = 3;
const honestPauseMs = 20;
const sampleMs = 2_000;
/** Memory counts as flat when its last quarter is at most this much above its second. */
const growthMax = 1.2;
const growthBytes = 48 * 1_048_576;
/** Shorter runs end while caches are still being filled. */
const flatMinutesMin = 5;
const residentBytesMax = 900 * 1_048_576;
const silenceMs = 4_000;

/** Fuzzes the real program in a heap of 1 GiB, and says what held. */
export async function runFuzz(options: FuzzOptions): Promise<readonly Verdict[]> {
  const { minutes, seed, print, honestMs } = options;
  const directory = mkdtempSync(join(tmpdir(), 'kipimo-fuzz-'));
  const start = () =>
    startProcess({
      directory,
      nodeFlags: ['--max-old-space-size=1024'],
      environment: { KIPIMO_ADMIN_PASSWORD: adminPassword, KIPIMO_LOG_LEVEL: 'info' },
    });
  let program = await start();
  try {
    print(`seed ${seed}, ${minutes} min`);
    const world = await furnish(createCall(program.url));
    const honest = startHonest(program.url, world.honestKey);
    const memory = watchMemory(program.pid);
    const tally = await strangersDo(program, world, {
      seed,
      endsAt: Date.now() + minutes * 60_000,
    });
    const samples = memory.end();
    const { waitedMs, refused } = await honest.end();
    const isAlive = program.exitCode() === undefined;
    program.kill('SIGTERM');
    const exit = await program.exited;
    program = await start();
    const again = await createCall(program.url)({ path: '/devices?limit=1000' });
    return [
      ...judgeAnswers(tally),
      { what: 'the program lives', isGood: isAlive, seen: program.errors().slice(-200) || 'yes' },
      ...judgeMemory(samples, minutes),
      ...judgeHonest(waitedMs, refused, honestMs),
      { what: 'SIGTERM ends it', isGood: exit.code === 0, seen: `code ${exit.code}` },
      { what: 'it starts again', isGood: again.status === 200, seen: `status ${again.status}` },
    ];
  } finally {
    await program[Symbol.asyncDispose]();
    rmSync(directory, { recursive: true, force: true });
  }
}

interface World {
  readonly strangers: readonly Stranger[];
  readonly honestKey: string;
  readonly surface: Surface;
}

async function furnish(call: (request: Call) => Promise<Reply>): Promise<World> {
  const json = (path: string, body: unknown, token?: string) =>
    call({ method: 'POST', path, json: body, ...(token !== undefined && { token }) });
  const logIn = async (username: string): Promise<string> => {
    const credentials = { username, password: `password of ${username}` };
    await json('/users', credentials);
    return (await json('/auth/token', credentials)).text;
  };
  const keyOf = async (token: string): Promise<string> => {
    const { json: made } = await json('/auth/keys', { name: 'fuzz' }, token);
    return (made as { key: string }).key;
  };
  const sensors = [{ id: 'TC1' }, { id: 'SM1' }];
  const strangers: Stranger[] = [{}, { username: 'guest', password: 'guest' }];
  for (const username of ['ann', 'ben', 'cleo']) {
    const token = await keyOf(await logIn(username));
    strangers.push({ token, username, password: token });
    const id = `D${strangers.length - 2}`;
    await json('/devices', { id, sensors, actuators: [{ id: 'pump' }] }, token);
  }
  await json('/gateways', { id: 'G1' });
  await json('/projects', { id: 'P1', device_ids: ['D1', 'D2'] });
  const honestToken = await logIn('honest');
  const device = { id: 'honest', visibility: 'private', sensors: [{ id: 'level' }] };
  await json('/devices', device, honestToken);
  const v2 = dereferenced((await call({ path: '//docs/v2.json' })).json);
  const v1 = dereferenced((await call({ path: '//docs/v1.json' })).json);
  const surface = surfaceOf({ '/api/v2': v2, '/api/v1': v1 });
  return { strangers, honestKey: await keyOf(honestToken), surface };
}

/** Answers over HTTP by status, and what must not have happened. */
interface Tally {
  readonly statuses: Map<number, number>;
  readonly faults: string[];
  conversations: number;
}

async function strangersDo(
  { url, mqttUrl }: ServiceProcess,
  { strangers, surface }: World,
  { seed, endsAt }: { readonly seed: number; readonly endsAt: number },
): Promise<Tally> {
  const tally: Tally = { statuses: new Map(), faults: [], conversations: 0 };
  const agent = new Agent({ keepAlive: true, maxSockets: httpLoops });
  const isOver = (): boolean => Date.now() >= endsAt;
  const loop = async (index: number, act: (random: Random) => Promise<void>): Promise<void> => {
    const random = createRandom(seed + index * 7_919);
    while (!isOver()) await act(random);
  };
  const http = (random: Random) => {
    const { token } = random.pick(strangers);
    return shoot(url, httpShot(random, surface, token), agent, tally);
  };
  const ports = [mqttUrl, url].map((place) => Number(new URL(place).port));
  const mqtt = (random: Random) => {
    tally.conversations += 1;
    return converse(random.pick(ports), mqttShot(random, random.pick(strangers)), random);
  };
  const webSocket = (random: Random) => {
    tally.conversations += 1;
    return converseOverWebSocket(url, mqttShot(random, random.pick(strangers)), random);
  };
  const acts = [
    ...Array.from({ length: httpLoops }, () => http),
    ...Array.from({ length: mqttLoops }, () => mqtt),
    ...Array.from({ length: webSocketLoops }, () => webSocket),
  ];
  await Promise.all(acts.map((act, index) => loop(index, act)));
  agent.destroy();
  return tally;
}

/** Faults that are kept to be shown. */
const faultsShown = 5;

function shoot(url: string, shot: Shot, agent: Agent, tally: Tally): Promise<void> {
  const { method, target, headers, body } = shot;
  const { port } = new URL(url);
  return new Promise((resolve) => {
    const options = { host: '127.0.0.1', port, path: target, method, headers, agent };
    const sent = request(options, (answer) => {
      const status = answer.statusCode ?? 0;
      tally.statuses.set(status, (tally.statuses.get(status) ?? 0) + 1);
      if (status === 500 && tally.faults.length < faultsShown) {
        tally.faults.push(`${method} ${target} ${String(body).slice(0, 300)}`);
      }
      answer.resume();
      answer.on('close', resolve);
    });
    // A body that is refused half-way ends with a reset.
    sent.on('error', () => resolve());
    sent.setTimeout(silenceMs * 5, () => sent.destroy());
    sent.end(body);
  });
}

async function converse(port: number, bytes: Buffer, random: Random): Promise<void> {
  const socket = connect({ port, host: '127.0.0.1' });
  socket.on('error', () => undefined);
  socket.resume();
  await Promise.race([once(socket, 'connect'), once(socket, 'close')]).catch(() => undefined);
  const half = random.once(3) ? random.below(bytes.length + 1) : bytes.length;
  socket.write(bytes.subarray(0, half));
  const pause = random.once(20) ? random.below(silenceMs) : random.below(20);
  await new Promise((resolve) => setTimeout(resolve, pause));
  const end = random.below(3);
  if (end === 0) socket.resetAndDestroy();
  else if (end === 1) socket.destroy();
  else socket.end(bytes.subarray(half));
  const impatience = setTimeout(() => socket.destroy(), silenceMs);
  if (!socket.closed) await once(socket, 'close').catch(() => undefined);
  clearTimeout(impatience);
}

async function converseOverWebSocket(url: string, bytes: Buffer, random: Random): Promise<void> {
  const address = `${url.replace(/^http/, 'ws')}${random.pick(['/websocket', '/mqtt'])}`;
  const socket = new WebSocket(address, 'mqtt', { perMessageDeflate: false });
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  socket.on('error', () => undefined);
  socket.once('open', () => {
    const half = random.below(bytes.length + 1);
    socket.send(bytes.subarray(0, half));
    socket.send(random.once(10) ? 'text' : bytes.subarray(half));
    if (random.once(2)) socket.terminate();
    else setTimeout(() => socket.terminate(), random.below(200));
  });
  const impatience = setTimeout(() => socket.terminate(), silenceMs);
  await closed;
  clearTimeout(impatience);
}

function startHonest(url: string, token: string) {
  const worker = new Worker(new URL('honest-pushes.ts', import.meta.url), {
    workerData: { url, token, pauseMs: honestPauseMs },
  });
  const told = once(worker, 'message').then(
    ([message]) => message as { waitedMs: readonly number[]; refused: readonly string[] },
  );
  return {
    end: () => {
      worker.postMessage('end');
      return told;
    },
  };
}

function watchMemory(pid: number): { end(): readonly number[] } {
  const samples: number[] = [];
  const timer = setInterval(() => {
    const kibibytes = /VmRSS:\s+(\d+)/.exec(readStatus(pid))?.[1];
    if (kibibytes !== undefined) samples.push(Number(kibibytes) * 1_024);
  }, sampleMs);
  return {
    end() {
      clearInterval(timer);
      return samples;
    },
  };
}

function readStatus(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/status`, 'utf8');
  } catch {
    // It is gone, which is told elsewhere, or this is no Linux.
    return '';
  }
}

function judgeAnswers({ statuses, faults, conversations }: Tally): readonly Verdict[] {
  const list = [...statuses].sort(([left], [right]) => left - right);
  const total = list.reduce((sum, [, count]) => sum + count, 0);
  const shown = list.map(([status, count]) => `${status}: ${count}`).join(', ');
  const isVaried = [200, 204, 400, 403, 404].every((status) => statuses.has(status));
  return [
    {
      what: 'no answer is a 500',
      isGood: !statuses.has(500),
      seen: [`${total} answers (${shown})`, ...faults].join('\n    '),
    },
    {
      what: 'the strangers reached what they shot at',
      isGood: isVaried && conversations > 0,
      seen: `${total} answers, ${conversations} MQTT conversations`,
    },
  ];
}

const mebibytes = (bytes: number): string => `${Math.round(bytes / 1_048_576)} MiB`;

function judgeMemory(samples: readonly number[], minutes: number): readonly Verdict[] {
  const quarter = Math.floor(samples.length / 4);
  const second = middleOf(samples.slice(quarter, 2 * quarter));
  const last = middleOf(samples.slice(-quarter));
  const peak = Math.max(...samples);
  const isFlat = last <= Math.max(second * growthMax, second + growthBytes);
  return [
    {
      what: 'memory has a bound',
      isGood: peak < residentBytesMax,
      seen: `peak ${mebibytes(peak)}`,
    },
    {
      what: 'memory is flat',
      isGood: minutes < flatMinutesMin || isFlat,
      seen: `second quarter ${mebibytes(second)}, last quarter ${mebibytes(last)}`,
    },
  ];
}

function judgeHonest(
  waitedMs: readonly number[],
  refused: readonly string[],
  honestMs: number,
): readonly Verdict[] {
  const sorted = [...waitedMs].sort((left, right) => left - right);
  const at = (share: number): number => sorted[Math.floor(sorted.length * share)] ?? Infinity;
  const [p50, p99, worst] = [at(0.5), at(0.99), at(0.999_999)].map((ms) => ms.toFixed(1));
  const figures = `p50 ${p50} ms, p99 ${p99} ms, worst ${worst} ms`;
  return [
    {
      what: `99 of 100 honest pushes are answered within ${honestMs} ms`,
      isGood: at(0.99) <= honestMs,
      seen: `${sorted.length} pushes: ${figures}`,
    },
    {
      what: 'no honest push is refused',
      isGood: refused.length === 0 && sorted.length > 0,
      seen: refused.length === 0 ? 'none' : `${refused.length}: ${refused.slice(0, 3).join(', ')}`,
    },
  ];
}

function middleOf(numbers: readonly number[]): number {
  const sorted = [...numbers].sort((left, right) => left - right);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}
