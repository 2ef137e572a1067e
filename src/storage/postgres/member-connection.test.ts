import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { emptySchemaCalled, noPostgres } from '../../../test/postgres-schemas.ts';
import { onServer } from '../../../test/postgres-server.ts';
import { DomainError } from '../../domain/errors.ts';
import { silentLog } from '../../lib/log.ts';
import { createMemberConnection } from './member-connection.ts';

describe('the connection for what members say to each other', { skip: noPostgres }, () => {
  test('a heartbeat waits for one statement, however many wait', async () => {
    const url = await emptySchemaCalled('members_urgent');
    const connection = createMemberConnection(url, silentLog);
    const answered: string[] = [];
    const say = async (name: string, how: 'all' | 'urgent') => {
      await connection[how]('select pg_sleep(0.02)');
      answered.push(name);
    };
    const said = ['one', 'two', 'three'].map((name) => say(name, 'all'));
    said.push(say('beat', 'urgent'));
    await Promise.all(said);
    assert.deepEqual(answered, ['one', 'beat', 'two', 'three']);
    await connection.close();
  });

  test('what waits for a connection that is lost is refused with it', async () => {
    const url = await emptySchemaCalled('members_lost');
    const connection = createMemberConnection(url, silentLog);
    const [row] = await connection.all<{ pid: number }>('select pg_backend_pid() as pid');
    const statements = [1, 2, 3].map(() => connection.all('select pg_sleep(2)'));
    const outcomes = Promise.allSettled(statements);
    await wait(100);
    await onServer(url, `select pg_terminate_backend(${row?.pid})`);
    for (const one of await outcomes) {
      assert.ok(one.status === 'rejected' && one.reason instanceof DomainError);
    }
    assert.equal((await connection.all('select 1')).length, 1);
    await connection.close();
  });

  test('one that is closed refuses what waits', async () => {
    const url = await emptySchemaCalled('members_closed');
    const connection = createMemberConnection(url, silentLog);
    const first = connection.all('select pg_sleep(0.05)');
    const second = assert.rejects(connection.all('select 1'), DomainError);
    await connection.close();
    await Promise.allSettled([first, second]);
    await assert.rejects(connection.all('select 1'), DomainError);
  });
});
