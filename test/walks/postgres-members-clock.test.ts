// In a process of its own: it starts a database server and services that share it.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import {
  findPostgres,
  onServer,
  type PostgresServer,
  schemaUrl,
  sharedPostgres,
} from '../postgres-server.ts';
import { startService } from '../service.ts';

const isAbsent = process.env['TEST_POSTGRES'] === 'off' || findPostgres() === undefined;

describe('clocks of processes that share a database', {
  skip: isAbsent && 'needs PostgreSQL',
}, () => {
  let server: PostgresServer;
  before(async () => {
    server = await sharedPostgres();
  });
  after(() => server.close());

  test('the clock of the database holds, and values are dated in the order they came', async () => {
    await onServer(server.url, 'drop schema if exists members_clock cascade');
    const environment = {
      KIPIMO_DATABASE_URL: await schemaUrl(server.url, 'members_clock'),
      KIPIMO_PROCESSES: 'several',
    };
    const hour = 3_600_000;
    const startWrong = (wrongBy: number) =>
      startService({ environment, clock: { now: () => Date.now() + wrongBy } });
    await using behind = await startWrong(-2 * hour);
    await using ahead = await startWrong(hour);
    const token = await behind.tokenOf('ama');
    const json = { id: 'd', sensors: [{ id: 't' }] };
    const made = await behind.call({ method: 'POST', path: '/devices', token, json });
    assert.equal(made.status, 204, made.text);
    const path = '/devices/d/sensors/t/values';
    const sent: number[] = [];
    for (let value = 0; value < 10; value += 1) {
      const { call } = value % 2 === 0 ? ahead : behind;
      sent.push(Date.now());
      const reply = await call({ method: 'POST', path, token, json: { value } });
      assert.equal(reply.status, 204, reply.text);
      // More than the answer of the database may be on its way.
      await new Promise((resolve) => setTimeout(resolve, 150));
    }
    const { json: read } = await behind.call({ path, token });
    const stored = read as { value: number; date_received: string }[];
    assert.deepEqual(
      stored.map(({ value }) => value),
      sent.map((_at, value) => value),
    );
    for (const [value, { date_received }] of stored.entries()) {
      const lateBy = Date.parse(date_received) - (sent[value] ?? 0);
      assert.ok(Math.abs(lateBy) < 2_000, `${value} is dated ${lateBy} ms late`);
    }
    const { text } = await ahead.call({ path: '//metrics', token: await ahead.tokenOf('admin') });
    const metric = (name: string) => Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1]);
    assert.equal(metric('kipimo_members'), 2);
    assert.ok(Math.abs(metric('kipimo_database_clock_offset_seconds') + hour / 1_000) < 2);
    assert.ok(metric('kipimo_members_unheard_seconds') < 2);
    assert.ok(metric('kipimo_members_lock_wait_seconds') > 0);
    assert.ok(metric('kipimo_database_connections') >= 3);
    // A server of tests syncs nothing.
    assert.ok(metric('kipimo_database_lossy_settings') >= 1);
  });
});
