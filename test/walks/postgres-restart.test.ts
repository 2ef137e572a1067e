// In a process of its own: it starts a database server, and ends it.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { temporaryDirectory } from '../contract/storage/temporary-directory.ts';
import { findPostgres, type OwnPostgres, schemaUrl, startPostgres } from '../postgres-server.ts';
import { startProcess } from '../service-process.ts';
import { minute } from '../v2/sensor-endpoint.ts';

const isAbsent = process.env['TEST_POSTGRES'] === 'off' || findPostgres() === undefined;
const directory = temporaryDirectory({ after });
const connections = 8;
/** From the moment in which the database takes connections again. */
const recoveryMsMax = 3_000;
const pushesMin = 50;

/** One connection that pushes to a sensor of its own, and remembers what became of it. */
interface Pusher {
  readonly path: string;
  readonly acknowledged: string[];
  /** Refused with 503, or never answered: it may be stored or not. */
  readonly doubtful: string[];
  acknowledgedAt: number;
  count: number;
}

const sensorPath = (id: string): string => `/api/v2/devices/field/sensors/${id}`;

async function pushOne(url: string, pusher: Pusher): Promise<void> {
  pusher.count += 1;
  const { count, path } = pusher;
  const value = `v${count}`;
  const json = { value, ...(count % 2 === 0 && { timestamp: minute(count) }) };
  const headers = { 'content-type': 'application/json' };
  const options = { method: 'POST', headers, body: JSON.stringify(json) };
  const reply = await fetch(`${url}${path}/value`, options).catch(() => undefined);
  await reply?.arrayBuffer().catch(() => undefined);
  if (reply?.status === 204) {
    pusher.acknowledged.push(value);
    pusher.acknowledgedAt = performance.now();
    return;
  }
  assert.equal(reply?.status, 503, 'a service that runs answers');
  assert.match(reply.headers.get('retry-after') ?? '', /^\d+$/);
  pusher.doubtful.push(value);
  await wait(50);
}

/** Each value that was acknowledged is there once, and none twice. */
async function verify(url: string, { path, acknowledged, doubtful }: Pusher): Promise<void> {
  const reply = await fetch(`${url}${path}/values?limit=1000000`);
  assert.equal(reply.status, 200);
  const stored = ((await reply.json()) as { value: string }[]).map(({ value }) => value);
  assert.equal(new Set(stored).size, stored.length, `${path} holds a value twice`);
  const kept = new Set(stored);
  assert.deepEqual(
    acknowledged.filter((value) => !kept.has(value)),
    [],
    `${path} lost values`,
  );
  const known = new Set([...acknowledged, ...doubtful]);
  assert.deepEqual(
    stored.filter((value) => !known.has(value)),
    [],
  );
}

describe('a database that ends', { skip: isAbsent ? 'needs PostgreSQL' : false }, () => {
  let server: OwnPostgres;
  before(async () => {
    server = await startPostgres();
  });
  after(() => server.close());

  async function startService(name: string) {
    const url = await schemaUrl(server.url, name);
    const environment = { KIPIMO_DATABASE_URL: url, KIPIMO_ADMIN_PASSWORD: 'admin-password-1' };
    const service = await startProcess({ directory, environment });
    const sensors = Array.from({ length: connections }, (_, n) => ({ id: `S${n}` }));
    const made = await fetch(`${service.url}/api/v2/devices`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ id: 'field', sensors }),
    });
    assert.equal(made.status, 204);
    return service;
  }

  test('restarted in whatever way under load, it loses nothing and doubles nothing', async () => {
    await using service = await startService('restart');
    const { url } = service;
    const pushers = Array.from(
      { length: connections },
      (_, n): Pusher => ({
        ...{ path: sensorPath(`S${n}`), acknowledged: [], doubtful: [] },
        ...{ acknowledgedAt: 0, count: 0 },
      }),
    );
    let isOver = false;
    const load = Promise.all(
      pushers.map(async (pusher) => {
        while (!isOver) await pushOne(url, pusher);
      }),
    );
    const total = () => pushers.reduce((sum, one) => sum + one.acknowledged.length, 0);
    const untilMore = async (more: number): Promise<void> => {
      const [wanted, giveUpAt] = [total() + more, performance.now() + 30_000];
      while (total() < wanted) {
        assert.ok(performance.now() < giveUpAt, `it stays at ${total()}`);
        await wait(5);
      }
    };
    try {
      for (const signal of ['SIGINT', 'SIGQUIT', 'SIGKILL', 'SIGINT'] as const) {
        await untilMore(pushesMin);
        await server.stop(signal);
        await server.start();
        const thereAt = performance.now();
        for (const pusher of pushers) {
          while (pusher.acknowledgedAt < thereAt) {
            assert.ok(performance.now() - thereAt < recoveryMsMax, `not there after ${signal}`);
            await wait(5);
          }
        }
      }
    } finally {
      isOver = true;
      await load;
    }
    for (const pusher of pushers) await verify(url, pusher);
    assert.equal(service.exitCode(), undefined);
  });

  test('while it is away everything is refused with 503, until it is there again', async () => {
    await using service = await startService('away');
    const { url } = service;
    const pusher: Pusher = {
      ...{ path: sensorPath('S0'), acknowledged: [], doubtful: [] },
      ...{ acknowledgedAt: 0, count: 0 },
    };
    await pushOne(url, pusher);
    await server.stop('SIGKILL');
    const read = await fetch(`${url}${pusher.path}/values`);
    assert.equal(read.status, 503, await read.text());
    assert.match(read.headers.get('retry-after') ?? '', /^\d+$/);
    assert.equal((await fetch(`${url}/healthz`)).status, 200);
    await pushOne(url, pusher);
    assert.deepEqual(pusher.doubtful, ['v2']);
    assert.equal((await fetch(`${url}/readyz`)).status, 503);
    await server.start();
    const thereAt = performance.now();
    while (pusher.acknowledged.length < 2) await pushOne(url, pusher);
    assert.ok(performance.now() - thereAt < recoveryMsMax);
    assert.equal((await fetch(`${url}/readyz`)).status, 200);
    await verify(url, pusher);
  });
});
