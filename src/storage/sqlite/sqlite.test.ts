import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import {
  aDevice,
  aGateway,
  aKey,
  aLogin,
  anActuator,
  aProject,
  aSensor,
  aToken,
  aUser,
  byPassword,
  deviceId,
  gatewayId,
  noon,
  projectId,
  sensorId,
  userId,
  username,
} from '../../../test/contract/storage/builders.ts';
import { storageContract } from '../../../test/contract/storage/storage-contract.ts';
import { temporaryDirectory } from '../../../test/contract/storage/temporary-directory.ts';
import { putMadeDatabase } from '../../../test/made-database.ts';
import { openAccounts } from '../../../tools/admin/sqlite/accounts.ts';
import { singleBatch } from '../../domain/datapoints/column-batch.ts';
import { DomainError } from '../../domain/errors.ts';
import { silentLog } from '../../lib/log.ts';
import { UnusableStorageError } from '../unusable-storage-error.ts';
import { databasePath } from './connection.ts';
import { ensureInstallationSecret } from './installation-secret.ts';
import { readMigrations } from './migrate.ts';
import { openSqlite, type SqliteOptions } from './sqlite-storage.ts';

const open = (directory: string, options: Partial<SqliteOptions> = {}) =>
  openSqlite({ directory, log: silentLog, ...options });

storageContract(async () => {
  const ends: (() => void)[] = [];
  const directory = temporaryDirectory({ after: (end) => ends.push(end) });
  putMadeDatabase(directory);
  const storage = await open(directory);
  const close = async (): Promise<void> => {
    await storage.close();
    for (const end of ends) end();
  };
  return { ...storage, close };
});

test('everything is there after closing and opening again', async (context) => {
  const directory = temporaryDirectory(context);
  const first = await open(directory);
  const alice = aUser('alice', { profile: { firstName: '\ud800' } });
  const device = aDevice('d', { sensors: [aSensor('s', { unit: 'C' })], meta: { a: [1] } });
  const sensor = { deviceId: deviceId('d'), sensorId: sensorId('s') };
  for (const user of [alice, aUser('bob')]) await first.users.insert(user, 'hash');
  await first.credentials.insertToken(aToken('t', 'alice'), byPassword, noon);
  await first.credentials.insertKey(aKey('k', 'alice'));
  await first.devices.insert(device);
  await first.gateways.insert(aGateway('g'));
  await first.gateways.heartbeat(gatewayId('g'), { at: noon, status: { up: 1 } });
  await first.projects.insert(aProject('p', { deviceIds: [device.id] }));
  const grant = { kind: 'device', resource: 'd', username: username('bob') } as const;
  await first.grants.put({ ...grant, scopes: ['devices:view'] });
  await first.datapoints.append([{ ...sensor, batch: singleBatch(7, undefined, noon) }]);
  await first.close();

  const again = await open(directory);
  context.after(() => again.close());
  assert.deepEqual(await again.users.find(alice.id), alice);
  assert.equal((await again.credentials.findToken('t'))?.bearer.username, 'alice');
  assert.equal((await again.credentials.findKey('hash-k'))?.id, 'k');
  assert.deepEqual(await again.devices.find(device.id), device);
  const seen = { lastSeenAt: noon, status: { up: 1 } };
  assert.deepEqual(await again.gateways.find(gatewayId('g')), aGateway('g', seen));
  assert.deepEqual((await again.projects.find(projectId('p')))?.deviceIds, [device.id]);
  assert.deepEqual(await again.grants.find('device', 'd', grant.username), ['devices:view']);
  assert.equal(await again.datapoints.count(sensor, {}), 1);
});

test('a data directory is for one service at a time', async (context) => {
  const directory = temporaryDirectory(context);
  const first = await open(directory);
  await assert.rejects(open(directory), (error) => {
    assert(error instanceof UnusableStorageError);
    assert.match(error.message, /is in use by another kipimo: stop that one/);
    assert(error.message.includes(directory));
    return true;
  });
  await first.users.insert(aUser('alice'), 'hash');
  await first.close();
  const second = await open(directory);
  assert.equal((await second.users.list({ limit: 1, offset: 0 })).total, 1);
  await second.close();
});

test('commands manage accounts before and beside the service', async (context) => {
  const directory = temporaryDirectory(context);
  const before = await openAccounts(directory);
  await before.users.insert(aUser('early'), 'hash');
  await before.close();
  const service = await open(directory);
  context.after(() => service.close());
  const beside = await openAccounts(directory);
  await Promise.all([
    beside.users.insert(aUser('beside'), 'hash'),
    service.users.insert(aUser('served'), 'hash'),
  ]);
  await beside.close();
  assert.equal((await service.users.findByUsername('early'))?.username, 'early');
  assert.equal((await service.users.findByUsername('beside'))?.username, 'beside');
  assert.equal((await service.users.list({ limit: 9, offset: 0 })).total, 3);
});

test('a refused database is left unlocked, so it can be mended', async (context) => {
  const directory = temporaryDirectory(context);
  await (await open(directory)).close();
  setVersion(directory, 9_999);
  for (const opening of [open, openAccounts]) {
    await assert.rejects(async () => opening(directory), /has version 9999, and this kipimo knows/);
  }
  setVersion(directory, readMigrations().length);
  await (await open(directory)).close();
});

function setVersion(directory: string, version: number): void {
  const database = new DatabaseSync(databasePath(directory));
  database.exec(`pragma user_version = ${version}`);
  database.close();
}

test('the data directory and its files are for their owner only', async (context) => {
  const directory = `${temporaryDirectory(context)}/new/data`;
  const storage = await open(directory);
  context.after(() => storage.close());
  const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8);
  assert.equal(modeOf(directory), '700');
  for (const file of ['kipimo.db', 'kipimo.db-wal', 'kipimo.lock']) {
    assert.equal(modeOf(`${directory}/${file}`), '600', file);
  }
});

test('a data directory that cannot be made is refused with a sentence', async () => {
  const words = /the data directory \/dev\/null\/data cannot be used .*: make it writable/;
  await assert.rejects(open('/dev/null/data'), words);
});

test('a start that was killed while it made the secret is in nobody’s way', (context) => {
  const directory = temporaryDirectory(context);
  writeFileSync(join(directory, 'secret.new'), 'half');
  const secret = ensureInstallationSecret(directory);
  assert.match(secret, /^[0-9a-f]{64}$/);
  assert.equal(ensureInstallationSecret(directory), secret);
  assert.deepEqual(readdirSync(directory), ['secret']);
});

test('a database that cannot be opened is refused by its name', async (context) => {
  const directory = temporaryDirectory(context);
  mkdirSync(databasePath(directory));
  for (const opening of [open, openAccounts]) {
    await assert.rejects(
      async () => opening(directory),
      (error) => {
        assert(error instanceof UnusableStorageError);
        return error.message.startsWith(`${databasePath(directory)} cannot be opened`);
      },
    );
  }
});

test('rows that are damaged are left out, and the others are found', async (context) => {
  const directory = temporaryDirectory(context);
  const storage = await open(directory);
  context.after(() => storage.close());
  await storage.users.insert(aUser('ana'), 'hash');
  const logins = [aLogin('l1', 'ana'), aLogin('l2', 'ana')];
  for (const login of logins) await storage.credentials.insertSession(login, byPassword, noon);
  const revert = { at: noon + 1, value: 0 };
  const actuators = [anActuator('a1', { revert }), anActuator('a2', { revert })];
  await storage.devices.insert(aDevice('d', { actuators }));
  const database = new DatabaseSync(databasePath(directory));
  database.exec("update actuators set details = '{\"revert\":' where actuator_id = 'a1'");
  database.exec("update login_sessions set details = '{' where id = 'l1'");
  database.close();
  const timed = await storage.devices.listTimedSettings();
  assert.deepEqual(timed, [{ deviceId: 'd', actuatorId: 'a2', at: noon + 1 }]);
  assert.equal(await storage.credentials.findSession('hash-l1'), undefined);
  const listed = await storage.credentials.listSessions(userId('id-ana'));
  assert.deepEqual(listed, [logins[1]]);
});

test('a full disk refuses changes, keeps what was there and still reads', async (context) => {
  const directory = temporaryDirectory(context);
  await (await open(directory)).close();
  const full = await open(directory, { pagesMax: 150 });
  context.after(() => full.close());
  const name = 'x'.repeat(20_000);
  const kept: string[] = [];
  const refused: unknown[] = [];
  for (let index = 0; index < 40; index += 1) {
    await full.devices.insert(aDevice(`d${index}`, { name })).then(
      () => kept.push(`d${index}`),
      (error: unknown) => refused.push(error),
    );
  }
  assert(kept.length > 0);
  assert(refused.length > 0);
  for (const error of refused) {
    assert(error instanceof DomainError);
    assert.equal(error.code, 'storage_full');
    assert.match(error.message, /^the disk is full/);
  }
  const page = { visibleTo: { who: 'everything' } } as const;
  const listed = await full.devices.list({ ...page, limit: 100, offset: 0 });
  assert.deepEqual(
    listed.devices.map(({ id }) => id),
    kept,
  );
  await full.devices.remove(deviceId(kept[0] ?? ''));
  assert.equal(await full.devices.insert(aDevice('small')), 'inserted');
});

test('a bug in a write is an error of its own, and the service goes on', async (context) => {
  const storage = await open(temporaryDirectory(context));
  context.after(() => storage.close());
  const user = aUser('alice', { createdAt: Number.NaN });
  await assert.rejects(storage.users.insert(user, 'hash'), (error) => {
    return error instanceof Error && !(error instanceof DomainError);
  });
  assert.equal(await storage.users.insert(aUser('alice'), 'hash'), 'inserted');
  await storage.ping();
  await storage.users.remove(userId('id-alice'));
});
