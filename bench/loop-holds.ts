// How long the main thread is held by what the time-series engine does, beside pushes one by one:
// node bench/loop-holds.ts [sensors, default 1000] [days of the crowd, default 30]
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as wait } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { putSmallChunks } from '../test/contract/storage/small-chunks.ts';
import { type ServiceProcess, startProcess } from '../test/service-process.ts';
import type { LoopHolds } from './loop-meter.ts';

const crowdSensors = Number(process.argv[2] ?? 1_000);
const crowdDays = Number(process.argv[3] ?? 30);
const sensorsPerDevice = 10;
const [minute, day] = [60_000, 86_400_000];
const linesPerRequest = 5_000;
/** How long each kind of read is asked for again and again. */
const readMs = 10_000;
const until = Math.floor(Date.now() / day) * day;
/** Between two pushes of the neighbour; a writer that is to find some rest needs longer pauses. */
const [trickleMs, restfulMs] = [40, 500];
const password = 'password of the benchmark';
const directory = mkdtempSync(join(tmpdir(), 'kipimo-holds-'));
const meterFile = join(directory, 'holds.json');
const agent = new Agent({ keepAlive: true });

interface Call {
  readonly method?: string;
  readonly path: string;
  readonly body?: string;
  readonly type?: string;
}

/** A service with its meter, and a neighbour who pushes all the time. */
interface Measured {
  readonly service: ServiceProcess;
  /** Answers the bytes of the answer, and its text where it is short. */
  call(one: Call): Promise<{ readonly bytes: number; readonly text: string }>;
  /** Prints how long the loop was held while this was done. */
  measure(what: string, work: () => Promise<unknown>, pauseMs?: number): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

async function open(): Promise<Measured> {
  const service = await startProcess({
    directory,
    environment: {
      KIPIMO_ADMIN_PASSWORD: password,
      KIPIMO_TOKEN_TTL_S: '86400',
      KIPIMO_LOG_LEVEL: 'info',
      LOOP_METER_FILE: meterFile,
    },
    nodeFlags: ['--import', pathToFileURL(resolve(import.meta.dirname, 'loop-meter.ts')).href],
  });
  let authorization = '';

  function call({ method = 'GET', path, body, type = 'application/json' }: Call) {
    const {
      promise,
      resolve: answer,
      reject,
    } = Promise.withResolvers<{
      bytes: number;
      text: string;
    }>();
    const headers = {
      ...(authorization !== '' && { authorization }),
      ...(body !== undefined && {
        'content-type': type,
        'content-length': Buffer.byteLength(body),
      }),
    };
    const sent = request(`${service.url}${path}`, { method, agent, headers }, (response) => {
      let [bytes, text] = [0, ''];
      response.on('data', (piece: Buffer) => {
        bytes += piece.length;
        if (text.length < 4_096) text += piece.toString();
      });
      response.on('end', () => {
        const { statusCode = 0 } = response;
        if (statusCode < 300) answer({ bytes, text });
        else reject(new Error(`${method} ${path.slice(0, 100)}: ${statusCode} ${text}`));
      });
      response.on('error', reject);
    });
    sent.on('error', reject);
    sent.end(body);
    return promise;
  }

  async function holds(): Promise<LoopHolds> {
    rmSync(meterFile, { force: true });
    process.kill(service.pid, 'SIGUSR2');
    for (;;) {
      await wait(5);
      try {
        return JSON.parse(readFileSync(meterFile, 'utf8')) as LoopHolds;
      } catch {
        // It is not written yet.
      }
    }
  }

  const login = { username: 'admin', password };
  const body = JSON.stringify(login);
  const { text } = await call({ method: 'POST', path: '/api/v2/auth/token', body });
  authorization = `Bearer ${text}`;
  return {
    service,
    call,
    async measure(what, work, pauseMs = trickleMs) {
      const neighbour = createNeighbour(call, pauseMs);
      await holds();
      const startedAt = performance.now();
      await work();
      const tookMs = performance.now() - startedAt;
      const seen = await holds();
      show(what, { tookMs, seen, slowestMs: await neighbour.end() });
    },
    async [Symbol.asyncDispose]() {
      service.kill('SIGTERM');
      await service.exited;
    },
  };
}

/** Pushes a value now and then; tells the slowest answer, in ms. */
function createNeighbour(call: Measured['call'], pauseMs: number) {
  let isOver = false;
  async function push(): Promise<number> {
    let slowest = 0;
    while (!isOver) {
      const startedAt = performance.now();
      const path = '/api/v2/devices/year/sensors/beside/value';
      await call({ method: 'POST', path, body: '{"value": 21.5}' });
      slowest = Math.max(slowest, performance.now() - startedAt);
      await wait(pauseMs);
    }
    return slowest;
  }
  const ended = push();
  return {
    end(): Promise<number> {
      isOver = true;
      return ended;
    },
  };
}

function show(
  what: string,
  {
    tookMs,
    seen,
    slowestMs,
  }: { readonly tookMs: number; readonly seen: LoopHolds; readonly slowestMs: number },
): void {
  const ms = (number: number): string => number.toFixed(1).padStart(7);
  console.log(
    `${what.padEnd(46)} ${(tookMs / 1_000).toFixed(1).padStart(6)} s  held p99.9${ms(seen.p999)}` +
      `  max${ms(seen.max)}  of it own work p99.9${ms(seen.workedP999)}  max${ms(seen.workedMax)}` +
      `  a push beside it at most${ms(slowestMs)} ms`,
  );
}

const deviceOf = (sensor: number): string => `crowd-${Math.floor(sensor / sensorsPerDevice)}`;
const crowdDevices = Math.ceil(crowdSensors / sensorsPerDevice);

async function createDevices({ call }: Measured): Promise<void> {
  const crowd = Array.from({ length: sensorsPerDevice }, (_, n) => ({ id: `s${n}` }));
  const devices = Array.from({ length: crowdDevices }, (_, n) => ({
    ...{ id: `crowd-${n}`, sensors: crowd },
  }));
  const year = { id: 'year', sensors: [{ id: 'minutes' }, { id: 'beside' }] };
  for (const one of [year, ...devices]) {
    await call({ method: 'POST', path: '/api/v2/devices', body: JSON.stringify(one) });
  }
}

/** A slow wave with a jitter, in steps of 0.1. */
const valueAt = (n: number): number =>
  Math.round((22 + 6 * Math.sin(n / 229)) * 10 + ((n * 7_919) % 13)) / 10;

function line(device: string, sensor: string, time: number, value: number): string {
  const timestamp = new Date(time).toISOString();
  return (
    `{"device_id":"${device}","sensor_id":"${sensor}",` +
    `"value":${value},"timestamp":"${timestamp}"}`
  );
}

/** Pushes lines in requests of thousands, some on their way at once. */
async function pushLines({ call }: Measured, lines: Iterator<string>): Promise<void> {
  const path = '/api/v2/sensors_data';
  const send = async (): Promise<void> => {
    for (;;) {
      const some: string[] = [];
      while (some.length < linesPerRequest) {
        const next = lines.next();
        if (next.done === true) break;
        some.push(next.value);
      }
      if (some.length === 0) return;
      await call({ method: 'POST', path, body: some.join('\n'), type: 'application/x-ndjson' });
    }
  };
  await Promise.all([send(), send()]);
}

function* yearLines(): Generator<string, undefined> {
  const count = 365 * 1_440;
  for (let n = 0; n < count; n += 1) {
    yield line('year', 'minutes', until - (count - n) * minute, valueAt(n));
  }
}

function* crowdLines(): Generator<string, undefined> {
  const count = crowdDays * 144;
  for (let n = 0; n < count; n += 1) {
    for (let sensor = 0; sensor < crowdSensors; sensor += 1) {
      const time = until - (count - n) * 10 * minute + sensor;
      yield line(deviceOf(sensor), `s${sensor % sensorsPerDevice}`, time, valueAt(n + sensor));
    }
  }
}

/** A value of each sensor, four times a second. */
async function pushLive(measured: Measured, seconds: number): Promise<void> {
  for (let turn = 0; turn < seconds * 4; turn += 1) {
    const startedAt = performance.now();
    const lines = Array.from({ length: crowdSensors }, (_, sensor) =>
      line(deviceOf(sensor), `s${sensor % sensorsPerDevice}`, until + turn * 250, valueAt(turn)),
    );
    await pushLines(measured, lines.values());
    await wait(Math.max(0, startedAt + 250 - performance.now()));
  }
}

async function measureReads(measured: Measured): Promise<void> {
  const { call, measure } = measured;
  const again = (what: string, path: string) =>
    measure(what, async () => {
      const until = performance.now() + readMs;
      while (performance.now() < until) await call({ path: `/api/v2${path}` });
    });
  const year = '/devices/year/sensors/minutes/values';
  await again('a year of minutes as CSV', `${year}?format=csv&limit=1000000`);
  await again('the same as JSON', `${year}?limit=1000000`);
  await again('a year by day, Kolkata', `${year}?aggregate=avg&interval=1d&timezone=Asia/Kolkata`);
  await again('a year thinned to 1 000 points', `${year}?points=1000`);
  const ids = Array.from({ length: Math.min(100, crowdDevices) }, (_, n) => `crowd-${n}`);
  const many = `/sensors_data?device_id=${ids.join(',')}`;
  const of = `of ${Math.min(crowdSensors, ids.length * sensorsPerDevice)} sensors`;
  await again(`days ${of}`, `${many}&aggregate=avg&interval=1d`);
  const every = 'aggregate=avg,min,max,sum,count,increase';
  await again(`days ${of} together, all`, `${many}&${every}&interval=1d&across=devices`);
  const quarters = 'aggregate=sum&interval=15m&across=devices';
  await again(`quarters of an hour ${of} together`, `${many}&${quarters}`);
  await again(`50 points each ${of}`, `${many}&points=50`);
  await again(`the last 100,000 ${of}, merged`, `${many}&limit=100000&sort=dsc`);
}

async function measureRenewal(): Promise<void> {
  {
    using database = new DatabaseSync(join(directory, 'kipimo.db'));
    console.log(`${putSmallChunks(database)} small chunks are to be written anew`);
  }
  await using measured = await open();
  const { call, measure, service } = measured;
  const renewed = async (): Promise<void> => {
    while (!service.output().includes('chunks of datapoints were written anew')) {
      if (service.exitCode() !== undefined) throw new Error(service.errors());
      await wait(100);
    }
  };
  await measure('rewriting small chunks', renewed, restfulMs);
  const body = JSON.stringify({ raw_days: Math.ceil(crowdDays / 2) });
  await call({ method: 'PUT', path: '/api/v2/users/me/retention', body });
  while (!service.output().includes('retention deletes')) await wait(20);
  await measure(`retention of half of ${crowdSensors} sensors`, async () => {
    while (!service.output().includes('retention has deleted')) await wait(100);
  });
}

try {
  {
    await using measured = await open();
    await createDevices(measured);
    await measured.measure('sealing: a year of minutes in bulk', () =>
      pushLines(measured, yearLines()),
    );
    await measured.measure(`sealing: ${crowdDays} days of ${crowdSensors} sensors in bulk`, () =>
      pushLines(measured, crowdLines()),
    );
    await measured.measure('sealing: 4 values a second of each of them', () =>
      pushLive(measured, 20),
    );
    await measured.measure('at rest: what is left is sealed', () => wait(30_000));
    await measureReads(measured);
  }
  await measureRenewal();
} finally {
  agent.destroy();
  rmSync(directory, { recursive: true, force: true });
}
