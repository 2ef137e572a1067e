// In a process of its own: it starts a database server.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { temporaryDirectory } from '../contract/storage/temporary-directory.ts';
import { createManualClock } from '../manual-clock.ts';
import { askAs, fill, readWorld, retainedMessage, takeMessages } from '../old-databases/world.ts';
import {
  findPostgres,
  type PostgresServer,
  schemaUrl,
  sharedPostgres,
} from '../postgres-server.ts';
import { startService } from '../service.ts';
import { runProgram } from '../service-process.ts';
import { createRecordingChannels } from '../v2/recording-channels.ts';

const isAbsent = process.env['TEST_POSTGRES'] === 'off' || findPostgres() === undefined;

describe('kipimo move', { skip: isAbsent ? 'needs PostgreSQL' : false }, () => {
  let server: PostgresServer;
  before(async () => {
    server = await sharedPostgres();
  });
  after(() => server.close());

  test('an installation is moved to PostgreSQL and back, and people notice nothing', async (t) => {
    const [directory, back] = [temporaryDirectory(t), temporaryDirectory(t)];
    const url = await schemaUrl(server.url, `move-${process.pid}`);
    const clock = createManualClock(Date.UTC(2026, 10, 20, 12));
    const channels = createRecordingChannels(['sms']);
    const noQuota = { KIPIMO_QUOTA_SIGNUP_BYTES: 'none' };
    const at = (place: object) => startService({ clock, channels: channels.open, ...place });
    const embedded = (here: string) => ({
      directory: here,
      environment: { ...noQuota, KIPIMO_DATABASE_URL: '' },
    });
    // Where the disk is not known there is no part of it for those who sign up.
    const onPostgres = { environment: { ...noQuota, KIPIMO_DATABASE_URL: url } };
    const run = (words: readonly string[], environment: Readonly<Record<string, string>>) =>
      runProgram(words, { directory, environment });

    let world: Record<string, unknown>;
    let key: string;
    {
      await using service = await at(embedded(directory));
      ({ key } = await fill(service));
      const measures = { method: 'PUT', path: '/devices/farm/sensors/level/measures' };
      const said = await (await askAs(service, 'ama'))({ ...measures, json: 'counter' });
      assert.equal(said.status, 204, said.text);
      world = await readWorld(service);
      assert.match(JSON.stringify(world), /"measures":"counter"/);
      const busy = await run(['move', '--to', url], { KIPIMO_DATABASE_URL: '' });
      assert.equal(busy.code, 1);
      assert.match(busy.stderr, /is in use by another kipimo: stop that one/);
    }
    const there = await run(['move', '--to', url], { KIPIMO_DATABASE_URL: '' });
    assert.equal(there.code, 0, there.stderr);
    assert.match(there.stdout, /^Moved \d[\d,]* rows of \d+ tables, with 5,\d{3} datapoints, and/);
    assert.match(there.stdout, /Set KIPIMO_DATABASE_URL to the new place/);
    const sound = await run(['doctor', '--json'], onPostgres.environment);
    const { findings } = JSON.parse(sound.stdout) as {
      findings: { level: string; check: string }[];
    };
    assert.deepEqual(
      findings.filter(({ check }) => check !== 'server'),
      [],
    );

    const level = '/devices/farm/sensors/level/value';
    {
      await using service = await at(onPostgres);
      assert.deepEqual(await readWorld(service), world);
      assert.equal(await retainedMessage(service), '{"value":33} true');
      const pushed = { method: 'POST', path: level, token: key, json: { value: 34 } };
      assert.equal((await service.call(pushed)).status, 204);
      world = await readWorld(service);
    }
    const returned = await run(['move', '--to', back], onPostgres.environment);
    assert.equal(returned.code, 0, returned.stderr);
    assert.match(returned.stdout, /Take KIPIMO_DATABASE_URL away, set KIPIMO_DATA_DIR=/);
    {
      await using service = await at(embedded(back));
      assert.deepEqual(await readWorld(service), world);
      const missed = await takeMessages(service, 1);
      assert.deepEqual(missed, { isKept: true, texts: ['{"value":33} 1 false'] });
      const ama = await askAs(service, 'ama');
      assert.equal((await ama({ method: 'DELETE', path: '/devices/farm' })).status, 204);
    }
    const whole = await run(['doctor'], { KIPIMO_DATABASE_URL: '', KIPIMO_DATA_DIR: back });
    assert.match(whole.stdout, /All is well/);
  });
});
