// In a process of its own: it starts servers of PostgreSQL and NATS, and processes between them.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { hasNats, type NatsServer, startNats } from '../nats-server.ts';
import { findPostgres, type PostgresServer, sharedPostgres } from '../postgres-server.ts';
import { adminPassword } from '../service.ts';
import { type MemberProcess, membersOf, signUp } from './member-processes.ts';

const isAbsent = process.env['TEST_POSTGRES'] === 'off' || findPostgres() === undefined || !hasNats;
const noticedMsMax = 10_000;

async function until(what: string, isSo: () => Promise<boolean>): Promise<void> {
  const giveUpAt = performance.now() + noticedMsMax;
  while (!(await isSo())) {
    assert.ok(performance.now() < giveUpAt, what);
    await wait(50);
  }
}

const readiness = async ({ call }: MemberProcess) => {
  const { status, json } = await call({ path: '//readyz' });
  assert.equal(status, 200);
  return json;
};

describe('processes with NATS', { skip: isAbsent && 'needs PostgreSQL and NATS' }, () => {
  let database: PostgresServer;
  let nats: NatsServer;
  before(async () => {
    database = await sharedPostgres();
    nats = await startNats();
  });
  after(async () => {
    await nats.stop();
    await database.close();
  });

  test('tell whether it is there, and lose nothing without it', async () => {
    const start = await membersOf(database, 'members_nats', { KIPIMO_NATS_URL: nats.url });
    await using one = await start();
    await using other = await start();
    const json = { username: 'admin', password: adminPassword };
    const { text: admin } = await one.call({ method: 'POST', path: '/auth/token', json });
    const metric = async () => {
      const { text } = await one.call({ path: '//metrics', token: admin });
      return /^kipimo_nats_connected (\d)$/m.exec(text)?.[1];
    };
    const areAll = (nats: string) => async () => {
      const said = await Promise.all([one, other].map(readiness));
      return said.every((each) => JSON.stringify(each) === JSON.stringify({ status: 'ok', nats }));
    };
    await until('both found it', areAll('connected'));
    assert.equal(await metric(), '1');

    const ama = await signUp(one, 'ama');
    const bo = await signUp(one, 'bo');
    const device = { id: 'field', visibility: 'private', sensors: [{ id: 's' }] };
    const made = await one.call({ method: 'POST', path: '/devices', token: ama, json: device });
    assert.equal(made.status, 204, made.text);
    const share = async () => {
      const path = '/devices/field/grants/bo';
      const see = async () => (await other.call({ path: '/devices/field', token: bo })).status;
      const rights = ['device:view', 'device-data:view'];
      const given = await one.call({ method: 'PUT', path, token: ama, json: rights });
      assert.ok(given.status < 300, given.text);
      assert.equal(await see(), 200, 'it is shared');
      const taken = await one.call({ method: 'DELETE', path, token: ama });
      assert.ok(taken.status < 300, taken.text);
      assert.equal(await see(), 403, 'it is taken back');
    };
    await share();
    await nats.stop();
    await until('both miss it', areAll('away'));
    assert.equal(await metric(), '0');
    await share();
    await using late = await start();
    assert.deepEqual(await readiness(late), { status: 'ok', nats: 'away' });
    await nats.start();
    await until('both found it again', areAll('connected'));
    await until('the late one found it', async () => {
      return JSON.stringify(await readiness(late)).includes('connected');
    });
    await share();
  });
});
