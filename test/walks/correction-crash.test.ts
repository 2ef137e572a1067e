import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { durable } from '../engine.ts';
import { startProcess } from '../service-process.ts';

const rounds = Number(process.env['KILL_ROUNDS'] ?? 6);
const path = '/api/v2/devices/d1/sensors/s1';

interface Made {
  readonly id: string;
  /** What it took away, or what stood there before. */
  readonly restores: ReadonlyMap<string, number>;
}

/** What one client knows to be so, and what it sent and never heard of. */
function createClient() {
  const shown = new Map<string, number>();
  const made: Made[] = [];
  let pushed = 0;
  let unheard: { readonly settle: (ids: ReadonlySet<string>) => void } | undefined;
  let repeat: unknown;

  async function call(url: string, method: string, below: string, json?: unknown) {
    const body = json === undefined ? {} : { body: JSON.stringify(json) };
    const headers = { 'content-type': 'application/json' };
    const reply = await fetch(`${url}${path}${below}`, { method, headers, ...body });
    const text = await reply.text();
    assert.ok(reply.ok, `${method} ${below}: ${reply.status} ${text}`);
    return text === '' ? undefined : (JSON.parse(text) as unknown);
  }

  const newestTimes = (count: number): readonly string[] =>
    [...shown.keys()].toSorted().slice(-count);

  async function push(url: string): Promise<void> {
    const datapoints = Array.from({ length: 5 }, (_, n) => ({
      timestamp: new Date(1_700_000_000_000 + (pushed + n) * 1_000).toISOString(),
      value: pushed + n,
    }));
    pushed += datapoints.length;
    repeat = datapoints;
    for (const { timestamp, value } of datapoints) shown.set(timestamp, value);
    await call(url, 'POST', '/values', datapoints);
  }

  /** Applies what a correction does once it is known whether it was made, and under which id. */
  async function correct(url: string, times: readonly string[], value?: number): Promise<void> {
    const [first, last] = [times[0] ?? '', times.at(-1) ?? ''];
    const apply = (id: string): void => {
      made.push({ id, restores: new Map(times.map((time) => [time, shown.get(time) ?? 0])) });
      for (const time of times) {
        if (value === undefined) shown.delete(time);
        else shown.set(time, value);
      }
    };
    const known = new Set(made.map(({ id }) => id));
    unheard = {
      settle(ids) {
        const id = [...ids].find((one) => !known.has(one));
        if (id !== undefined) apply(id);
      },
    };
    const query = `/values?dateFrom=${first}&dateTo=${last}`;
    const answer =
      value === undefined
        ? await call(url, 'DELETE', query)
        : await call(
            url,
            'PATCH',
            '/values',
            times.map((timestamp) => ({ timestamp, value })),
          );
    unheard = undefined;
    apply((answer as { correction: string }).correction);
  }

  async function undo(url: string): Promise<void> {
    const one = made.at(-1);
    if (one === undefined) return;
    const apply = (): void => {
      made.pop();
      for (const [time, value] of one.restores) shown.set(time, value);
    };
    unheard = { settle: (ids) => void (ids.has(one.id) || apply()) };
    await call(url, 'DELETE', `/corrections/${one.id}`);
    unheard = undefined;
    apply();
  }

  return {
    /** One step of many kinds; throws when the service is killed meanwhile. */
    async step(url: string, number: number): Promise<void> {
      if (number % 5 === 1 || shown.size < 20) await push(url);
      else if (number % 5 === 2) await correct(url, newestTimes(3));
      else if (number % 5 === 3) await correct(url, newestTimes(2), -number);
      else if (number % 5 === 4) await undo(url);
      else if (repeat !== undefined) await call(url, 'POST', '/values', repeat);
    },
    /** Brings the one step that nobody heard of to an end, and compares everything. */
    async verify(url: string): Promise<void> {
      if (repeat !== undefined) await call(url, 'POST', '/values', repeat);
      const listed = (await call(url, 'GET', '/corrections')) as readonly { id: string }[];
      const ids = new Set(listed.map(({ id }) => id));
      unheard?.settle(ids);
      unheard = undefined;
      assert.deepEqual(ids, new Set(made.map(({ id }) => id)));
      const read = await call(url, 'GET', '/values?limit=100000');
      const found = (read as readonly { timestamp: string; value: number }[]).map(
        ({ timestamp, value }) => [timestamp, value] as const,
      );
      const expected = [...shown].toSorted(([a], [b]) => (a < b ? -1 : 1));
      assert.deepEqual(found, expected);
    },
    get counts() {
      return { shown: shown.size, made: made.length };
    },
  };
}

durable(
  `${rounds} times kill -9 while values are corrected: all of each correction, or none`,
  async () => {
    const directory = mkdtempSync(join(tmpdir(), 'kipimo-corrections-'));
    const environment = { KIPIMO_ADMIN_PASSWORD: 'admin-password-1', KIPIMO_LOG_LEVEL: 'info' };
    const client = createClient();
    let number = 0;
    try {
      for (let round = 0; round < rounds; round += 1) {
        await using service = await startProcess({ directory, environment });
        if (round === 0) {
          await fetch(`${service.url}/api/v2/devices`, {
            method: 'POST',
            headers: { 'content-type': 'application/json' },
            body: JSON.stringify({ id: 'd1', sensors: [{ id: 's1' }] }),
          });
        }
        await client.verify(service.url);
        for (let step = 0; step < 3 + (round % 6); step += 1) {
          await client.step(service.url, number);
          number += 1;
        }
        // Somewhere on the way of one more.
        const dying = client.step(service.url, number).catch(() => undefined);
        number += 1;
        for (let turn = 0; turn < (round * 7) % 23; turn += 1) {
          await new Promise((resolve) => setImmediate(resolve));
        }
        service.kill('SIGKILL');
        await dying;
        assert.equal((await service.exited).signal, 'SIGKILL');
      }
      await using service = await startProcess({ directory, environment });
      await client.verify(service.url);
      assert.ok(
        client.counts.shown > 2.5 * rounds && client.counts.made > 0,
        JSON.stringify(client.counts),
      );
    } finally {
      rmSync(directory, { recursive: true });
    }
  },
);
