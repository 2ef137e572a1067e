import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { runProgram, startProcess } from '../service-process.ts';

const rounds = Number(process.env['KILL_ROUNDS'] ?? 6);
const sensors = ['s1', 's2', 's3', 's4', 's5', 's6', 's7', 's8'];
const [minute, day] = [60_000, 86_400_000];
const today = Math.floor(Date.now() / day) * day;
const days = rounds + 4;
const perDay = day / minute;

interface Bucket {
  readonly timestamp: string;
  readonly [name: string]: unknown;
}

async function call(url: string, method: string, path: string, json?: unknown) {
  const body = json === undefined ? {} : { body: JSON.stringify(json) };
  const headers = { 'content-type': 'application/json' };
  const reply = await fetch(`${url}/api/v2/devices${path}`, { method, headers, ...body });
  const text = await reply.text();
  assert.ok(reply.ok, `${method} ${path}: ${reply.status} ${text}`);
  return { headers: reply.headers, json: text === '' ? undefined : (JSON.parse(text) as unknown) };
}

const numberAt = (place: number, n: number): number => ((n * 7 + place) % 101) / 4;

/** A value every minute, until today, of each sensor; answers what they come to by day. */
async function fill(url: string): Promise<ReadonlyMap<string, readonly Bucket[]>> {
  await call(url, 'POST', '', { id: 'd1', sensors: sensors.map((id) => ({ id })) });
  const expected = new Map<string, readonly Bucket[]>();
  for (const [place, id] of sensors.entries()) {
    const values = Array.from({ length: days * perDay }, (_, n) => ({
      timestamp: new Date(today - days * day + n * minute).toISOString(),
      value: numberAt(place, n),
    }));
    await call(url, 'POST', `/d1/sensors/${id}/values`, values);
    const buckets = Array.from({ length: days }, (_, at): Bucket => {
      const numbers = values.slice(at * perDay, (at + 1) * perDay).map(({ value }) => value);
      return {
        timestamp: new Date(today + (at - days) * day).toISOString(),
        ...{ count: perDay, min: Math.min(...numbers), max: Math.max(...numbers) },
        ...{ sum: numbers.reduce((sum, one) => sum + one, 0) },
        ...{ first: numbers[0], last: numbers.at(-1) },
      };
    });
    expected.set(id, buckets);
  }
  return expected;
}

/** What is pushed meanwhile, acknowledged or not: it comes again after the kill. */
function createLoad() {
  const sent: { readonly timestamp: string; readonly value: number }[] = [];
  return {
    sent,
    async push(url: string): Promise<void> {
      sent.push({ timestamp: new Date(today + sent.length).toISOString(), value: 1 });
      await call(url, 'POST', '/d1/sensors/s1/values', sent.slice(-1));
    },
    async repeat(url: string): Promise<void> {
      if (sent.length > 0) await call(url, 'POST', '/d1/sensors/s1/values', sent.slice(-2));
    },
  };
}

test(`${rounds} times kill -9 while old values go: their hours stay, and nothing comes back`, {
  timeout: Math.max(180_000, rounds * 15_000),
}, async () => {
  const directory = mkdtempSync(join(tmpdir(), 'kipimo-retention-'));
  const environment = { KIPIMO_ADMIN_PASSWORD: 'admin-password-1', KIPIMO_LOG_LEVEL: 'info' };
  const load = createLoad();
  const oldest = new Map<string, number>();
  let expected: ReadonlyMap<string, readonly Bucket[]> = new Map();
  let [taken, partly] = [0, 0];

  async function verify(url: string): Promise<void> {
    let isPartly = 0;
    for (const [id, buckets] of expected) {
      const query = 'aggregate=count,min,max,sum,first,last&interval=1d';
      const before = `dateTo=${new Date(today - 1).toISOString()}`;
      const { json } = await call(url, 'GET', `/d1/sensors/${id}/values?${query}&${before}`);
      assert.deepEqual(json, buckets, id);
      const read = await call(url, 'GET', `/d1/sensors/${id}/values?limit=1`);
      const [first] = read.json as readonly { timestamp: string }[];
      const stands = Date.parse(read.headers.get('x-summarised-before') ?? '1970-01-01');
      const from = Date.parse(first?.timestamp ?? '');
      assert.ok(from >= stands, `${id}: a value of ${from} is there, ${stands} is said`);
      assert.ok(from >= (oldest.get(id) ?? 0), `${id}: ${from} came back`);
      if (from > (oldest.get(id) ?? 0)) isPartly += 1;
      oldest.set(id, from);
    }
    taken += isPartly;
    if (isPartly > 0 && isPartly < sensors.length) partly += 1;
    const live = await call(
      url,
      'GET',
      `/d1/sensors/s1/values?limit=1000000&dateFrom=${new Date(today).toISOString()}`,
    );
    const found = (live.json as readonly { timestamp: string }[]).map((one) => one.timestamp);
    assert.deepEqual(
      found,
      load.sent.map(({ timestamp }) => timestamp),
    );
  }

  try {
    for (let round = 0; round < rounds; round += 1) {
      await using service = await startProcess({ directory, environment });
      if (round === 0) expected = await fill(service.url);
      await load.repeat(service.url);
      await verify(service.url);
      const retention = { raw_days: Math.max(1, days - 1 - round) };
      await call(service.url, 'PUT', '/d1/retention', retention);
      // From the line that announces it on, sometime while steps are under way.
      while (!service.output().includes('retention deletes')) {
        await load.push(service.url);
        await wait(5);
      }
      for (let turn = 0; turn < 1 + ((round * 7) % 11); turn += 1) await wait(15);
      const dying = load.push(service.url).catch(() => undefined);
      service.kill('SIGKILL');
      await dying;
      assert.equal((await service.exited).signal, 'SIGKILL');
    }
    {
      await using service = await startProcess({ directory, environment });
      await load.repeat(service.url);
      await verify(service.url);
      await call(service.url, 'PUT', '/d1/retention', { raw_days: 2 });
      while (!service.output().includes('retention has deleted')) await wait(50);
      await verify(service.url);
      assert.ok(Math.min(...oldest.values()) >= today - 2 * day);
    }
    const planned = await runProgram(['retention'], { directory });
    assert.match(planned.stdout, /Nothing is older/);
    const doctor = await runProgram(['doctor'], { directory });
    assert.doesNotMatch(doctor.stdout, /damage:/);
    assert.ok(taken > sensors.length, `${taken} cuts were seen, ${partly} rounds half-way`);
  } finally {
    rmSync(directory, { recursive: true });
  }
});
