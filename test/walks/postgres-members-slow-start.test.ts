// In a process of its own: it starts a database server and several processes that share it.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { memberLimits } from '../../src/domain/members/member-limits.ts';
import { openProxy } from '../cluster/tcp-proxy.ts';
import { findPostgres, onServer, type PostgresServer, sharedPostgres } from '../postgres-server.ts';
import { membersOf, signUp } from './member-processes.ts';

const isAbsent = process.env['TEST_POSTGRES'] === 'off' || findPostgres() === undefined;
const schema = 'members_slow_start';
const delayMs = 100;
const silentMs = memberLimits.silentBeats * memberLimits.beatMs;

describe('a process whose link is slow', { skip: isAbsent && 'needs PostgreSQL' }, () => {
  let server: PostgresServer;
  before(async () => {
    server = await sharedPostgres();
  });
  after(() => server.close());

  test('joins two that serve, however long its start takes', async (t) => {
    const start = await membersOf(server, schema);
    await using one = await start();
    await using other = await start();
    const ama = await signUp(one, 'ama');
    const device = { id: 'field', sensors: [{ id: 's' }, { id: 'last' }] };
    await one.call({ method: 'POST', path: '/devices', token: ama, json: device });
    const path = '/devices/field/sensors/s/value';
    const link = await openProxy(Number(new URL(server.url).port));
    link.delay(delayMs);
    let isStarting = true;
    let [pushes, longestMs] = [0, 0];
    const pushing = (async () => {
      while (isStarting) {
        for (const side of [one, other]) {
          const askedAt = performance.now();
          const { status, text } = await side.call({ method: 'POST', path, token: ama, json: 1 });
          assert.equal(status, 204, text);
          longestMs = Math.max(longestMs, performance.now() - askedAt);
          pushes += 1;
        }
        await wait(50);
      }
    })();
    try {
      const startedAt = performance.now();
      await using third = await start({ port: link.port });
      const tookMs = performance.now() - startedAt;
      t.diagnostic(
        `start ${Math.round(tookMs)} ms; ${pushes} pushes, longest ${Math.round(longestMs)} ms`,
      );
      assert.ok(tookMs > silentMs, `the start took ${tookMs} ms: others would not give it up`);
      // Longer than they wait for one that is silent.
      await wait(silentMs + memberLimits.beatMs);
      const { rows } = await onServer(server.url, `select state from ${schema}.members`);
      assert.deepEqual(
        rows.map(({ state }) => state),
        ['serving', 'serving', 'serving'],
      );
      const value = { path: '/devices/field/sensors/last/value', token: ama };
      const pushed = await third.call({ ...value, method: 'POST', json: 4711 });
      assert.equal(pushed.status, 204, pushed.text);
      const last = await one.call({ path: '/devices/field/sensors/last', token: ama });
      assert.match(last.text, /4711/);
      assert.equal(third.running.exitCode(), undefined);
    } finally {
      isStarting = false;
      await pushing;
      await link.close();
    }
  });
});
