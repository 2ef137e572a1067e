// In a process of its own: it starts a database server, and stops processes for a while.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { temporaryDirectory } from '../contract/storage/temporary-directory.ts';
import {
  findPostgres,
  onServer,
  type PostgresServer,
  schemaUrl,
  sharedPostgres,
} from '../postgres-server.ts';
import { startProcess } from '../service-process.ts';

const isAbsent = process.env['TEST_POSTGRES'] === 'off' || findPostgres() === undefined;
const directory = temporaryDirectory({ after });
const endMsMax = 10_000;

/** Ends the connections of the schema's service, as a network does that is cut for a while. */
const cut = `
  select pg_terminate_backend(pid) from pg_locks join pg_stat_activity using (pid)
  where locktype = 'advisory' and classid::bigint = hashtext('kipimo service')::bigint & 4294967295
    and objid::bigint = hashtext('replaced_walk')::bigint & 4294967295`;

describe('two processes on a database', { skip: isAbsent ? 'needs PostgreSQL' : false }, () => {
  let server: PostgresServer;
  before(async () => {
    server = await sharedPostgres();
  });
  after(() => server.close());

  test('the second is refused, and one that was replaced ends though nobody asks it', async () => {
    await onServer(server.url, 'drop schema if exists replaced_walk cascade');
    const url = await schemaUrl(server.url, 'replaced_walk');
    const environment = { KIPIMO_DATABASE_URL: url, KIPIMO_ADMIN_PASSWORD: 'admin-password-1' };
    await using first = await startProcess({ directory, environment });
    await assert.rejects(
      startProcess({ directory, environment }),
      /another process of Kipimo serves this database: stop it first/,
    );
    process.kill(first.pid, 'SIGSTOP');
    try {
      assert.equal((await onServer(url, cut)).rowCount, 1);
      await using second = await startProcess({ directory, environment });
      process.kill(first.pid, 'SIGCONT');
      const exit = await Promise.race([first.exited, wait(endMsMax, 'it stays')]);
      assert.deepEqual(exit, { code: 1, signal: null });
      assert.match(first.output(), /another process of Kipimo serves this database now/);
      const made = await fetch(`${second.url}/api/v2/devices`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ id: 'field' }),
      });
      assert.equal(made.status, 204, 'the one that took over serves');
    } finally {
      first.kill('SIGKILL');
    }
  });
});
