// In a process of its own: it starts a database server and several processes that share it.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { noPostgres, postgresOfTests } from '../postgres-schemas.ts';
import { onServer, schemaUrl } from '../postgres-server.ts';
import { adminPassword } from '../service.ts';
import { type MemberProcess, membersOf, signUp } from './member-processes.ts';

const points = 90_000;
const perRequest = 10_000;
const begin = Date.UTC(2026, 0, 1);
const devices = ['field', 'barn'];

const dayMs = 86_400_000;
const perDay = dayMs / 60_000;

async function fill({ call }: MemberProcess, token: string, id: string): Promise<void> {
  const device = { id, sensors: [{ id: 's' }] };
  const made = await call({ method: 'POST', path: '/devices', token, json: device });
  assert.equal(made.status, 204);
  for (let from = 0; from < points; from += perRequest) {
    const json = Array.from({ length: perRequest }, (_, n) => ({
      value: (from + n) % 97,
      timestamp: new Date(begin + (from + n) * 60_000).toISOString(),
    }));
    const path = `/devices/${id}/sensors/s/values`;
    const pushed = await call({ method: 'POST', path, token, json });
    assert.equal(pushed.status, 204, pushed.text);
  }
}

describe('two processes with two further databases', { skip: noPostgres }, () => {
  test('a history that lies in all of them is read at both, and looked at by doctor', async () => {
    const { url } = await postgresOfTests();
    const shardUrls: string[] = [];
    for (const name of ['walk_shard_one', 'walk_shard_two']) {
      await onServer(url, `drop schema if exists ${name} cascade`);
      shardUrls.push(await schemaUrl(url, name));
    }
    await onServer(url, 'drop schema if exists walk_shards cascade');
    const main = await schemaUrl(url, 'walk_shards');
    const start = await membersOf(await postgresOfTests(), 'walk_shards', {
      KIPIMO_DATABASE_URL: [main, ...shardUrls].join(','),
    });
    await using one = await start();
    await using other = await start();
    const ama = await signUp(one, 'ama');
    for (const id of devices) await fill(one, ama, id);
    const countOf = async (where: string): Promise<number> =>
      Number((await onServer(where, 'select count(*) as n from chunk_bytes')).rows[0]?.n);
    const giveUpAt = performance.now() + 90_000;
    for (const shard of shardUrls) {
      while ((await countOf(shard)) < 2) {
        assert.ok(performance.now() < giveUpAt, 'chunks are not sent');
        await wait(200);
      }
    }
    for (const { call } of [one, other]) {
      for (const id of devices) {
        const path = `/devices/${id}/sensors/s/values?interval=1d&aggregate=count&limit=1000`;
        const days = await call({ path, token: ama });
        assert.equal(days.status, 200, days.text);
        const counts = (days.json as readonly { value: number }[]).map(({ value }) => value);
        assert.equal(counts.length, points / perDay + 0.5);
        assert.ok(counts.slice(0, -1).every((count) => count === perDay));
        const some = await call({
          path: `/devices/${id}/sensors/s/values?sort=asc&limit=100`,
          token: ama,
        });
        const values = (some.json as readonly { value: number }[]).map(({ value }) => value);
        assert.deepEqual(
          values,
          values.map((_, n) => n % 97),
        );
      }
    }
    const ready = await fetch(`${other.running.url}/readyz`);
    assert.deepEqual(await ready.json(), { status: 'ok', shards: 'connected' });
    const json = { username: 'admin', password: adminPassword };
    const { text: admin } = await one.call({ method: 'POST', path: '/auth/token', json });
    const headers = { authorization: `Bearer ${admin}` };
    const metrics = await (await fetch(`${one.running.url}/metrics`, { headers })).text();
    assert.match(metrics, /^kipimo_shards_away 0$/m);
    const doctor = await one.run('doctor', '--json');
    const { findings, datapointsInChunks } = JSON.parse(doctor.stdout) as {
      readonly findings: readonly { readonly check: string }[];
      readonly datapointsInChunks: number;
    };
    // The tests' server is set up for speed.
    assert.deepEqual(
      findings.filter(({ check }) => check !== 'server'),
      [],
    );
    assert.equal(datapointsInChunks, devices.length * points);
  });
});
