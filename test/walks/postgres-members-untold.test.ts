// In a process of its own: it starts a database server and several processes that share it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findPostgres, onServer, sharedPostgres } from '../postgres-server.ts';
import { membersOf, signUp } from './member-processes.ts';

const isAbsent = process.env['TEST_POSTGRES'] === 'off' || findPostgres() === undefined;

test('what is taken back while others cannot be told is not answered as done', {
  skip: isAbsent && 'needs PostgreSQL',
}, async (context) => {
  const server = await sharedPostgres();
  context.after(() => server.close());
  const schema = 'members_untold';
  const start = await membersOf(server, schema);
  await using one = await start();
  await using other = await start();
  const [ama, bo] = [await signUp(one, 'ama'), await signUp(one, 'bo')];
  const json = { id: 'field', visibility: 'private' };
  await one.call({ method: 'POST', path: '/devices', token: ama, json });
  const path = '/devices/field/grants/bo';
  await one.call({ method: 'PUT', path, token: ama, json: ['device:view'] });
  const see = async () => (await other.call({ path: '/devices/field', token: bo })).status;
  assert.equal(await see(), 200);
  // As a disk that has room for the change, and not for one more row.
  await onServer(
    server.url,
    `create function ${schema}.no_room() returns trigger language plpgsql as
      $$ begin raise exception 'no space left' using errcode = '53100'; end $$;
    create trigger no_room before insert on ${schema}.feed_log
      for each row execute function ${schema}.no_room()`,
  );
  const takeBack = async () => (await one.call({ method: 'DELETE', path, token: ama })).status;
  assert.equal(await takeBack(), 507);
  assert.equal(await takeBack(), 507, 'nor when it is tried again');
  await onServer(server.url, `drop trigger no_room on ${schema}.feed_log`);
  assert.equal(await takeBack(), 204);
  assert.equal(await see(), 403);
});
