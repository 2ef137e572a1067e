// In a process of its own: it starts a database server and several processes that share it.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { findPostgres, onServer, type PostgresServer, sharedPostgres } from '../postgres-server.ts';
import { type MemberProcess, membersOf } from './member-processes.ts';
import {
  createNumbers,
  firingsOf,
  keepEvaluations,
  makeField,
  modelled,
  until,
} from './rule-model.ts';

const isAbsent = process.env['TEST_POSTGRES'] === 'off' || findPostgres() === undefined;
const patienceMs = 30_000;

interface Accident {
  readonly name: string;
  readonly schema: string;
  /** Strikes the second of two processes while both are pushed to, and the last one. */
  strike(other: MemberProcess, server: PostgresServer): Promise<void>;
}

const pause = async (other: MemberProcess): Promise<void> => {
  process.kill(other.running.pid, 'SIGSTOP');
  await wait(8_000);
  process.kill(other.running.pid, 'SIGCONT');
};

const accidents: readonly Accident[] = [
  {
    ...{ name: 'a process is killed', schema: 'alarms_killed' },
    strike: async ({ running }) => running.kill('SIGKILL'),
  },
  {
    ...{ name: 'a process is ended', schema: 'alarms_ended' },
    strike: async ({ running }) => running.kill('SIGTERM'),
  },
  { ...{ name: 'a process sleeps until it is given up', schema: 'alarms_slept' }, strike: pause },
  {
    ...{ name: 'connections to the database are cut', schema: 'alarms_cut' },
    async strike(_, { url }) {
      for (let round = 0; round < 3; round += 1) {
        await onServer(
          url,
          `select pg_terminate_backend(pid) from pg_stat_activity
           where application_name like 'kipimo %'`,
        );
        await wait(400);
      }
    },
  },
];

describe('alarms of processes that share a database', {
  skip: isAbsent && 'needs PostgreSQL',
}, () => {
  let server: PostgresServer;
  before(async () => {
    server = await sharedPostgres();
  });
  after(() => server.close());

  for (const { name, schema, strike } of accidents) {
    test(`none is lost and none is doubled when ${name}`, async () => {
      const start = await membersOf(server, schema);
      await using one = await start();
      await using other = await start();
      const { tryPush, firings } = await makeField(one, ['a', 'b'], modelled);
      const looks = await keepEvaluations(server.url, schema);
      const next = createNumbers(11);
      let acknowledged = 0;
      let isOver = false;
      const load = async (at: MemberProcess): Promise<void> => {
        while (!isOver) {
          const sensor = next(2) === 0 ? 'a' : 'b';
          const status = await tryPush(at, sensor, next(100)).catch(() => 0);
          if (status === 204) acknowledged += 1;
          await wait(20);
        }
      };
      const all = [one, other, one, other].map(load);
      const isUnderWay = async () => acknowledged > 20;
      await until(isUnderWay, 'nothing is stored', patienceMs);
      await strike(other, server);
      await wait(1_000);
      isOver = true;
      await Promise.all(all);
      await until(async () => (await looks.waiting()) === 0, 'looks are left', patienceMs);
      const pushes = await looks.pushes();
      assert.ok(acknowledged <= pushes.length, `${acknowledged} pushes`);
      assert.deepEqual(await firings(one), firingsOf(pushes));
    });
  }
});
