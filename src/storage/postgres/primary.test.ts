// In a process of its own: it starts a server with a standby, which takes its place.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { startPair, urlOnPort } from '../../../test/cluster/postgres-pair.ts';
import { openProxy } from '../../../test/cluster/tcp-proxy.ts';
import {
  aDevice,
  aSensor,
  deviceId,
  noon,
  sensorId,
} from '../../../test/contract/storage/builders.ts';
import { noPostgres } from '../../../test/postgres-schemas.ts';
import { freePort, onServer } from '../../../test/postgres-server.ts';
import { singleBatch } from '../../domain/datapoints/column-batch.ts';
import { readDatapoints } from '../../domain/datapoints/datapoint-store.ts';
import { silentLog } from '../../lib/log.ts';
import { UnusableStorageError } from '../unusable-storage-error.ts';
import { openPostgres } from './postgres-storage.ts';
import { clientClass } from './primary.ts';

const sensor = { deviceId: deviceId('d'), sensorId: sensorId('s') };
const push = (value: number) => [{ ...sensor, batch: singleBatch(value, noon + value, noon) }];
const givenUpMs = 30_000;

test('of several servers the one that takes changes is used, also after a failover', {
  skip: noPostgres,
}, async () => {
  const pair = await startPair();
  try {
    const hosts = [await freePort(), pair.standbyPort, pair.port].map((at) => `127.0.0.1:${at}`);
    const urlOf = (some: readonly string[]) =>
      `postgres://kipimo@${some.join(',')}/postgres?target_session_attrs=read-write`;
    const none = openPostgres({ url: urlOf(hosts.slice(0, 2)), log: silentLog });
    await assert.rejects(none, (error) => {
      assert.ok(error instanceof UnusableStorageError);
      assert.match(
        error.message,
        /cannot be opened: .*ECONNREFUSED.*; .* is a standby, which takes/,
      );
      return true;
    });
    const storage = await openPostgres({
      ...{ url: urlOf(hosts), log: silentLog, serving: 'shared' },
    });
    await storage.devices.insert(aDevice('d', { sensors: [aSensor('s')] }));
    await storage.datapoints.append(push(1));
    await pair.promote();
    // Requests while no server took changes may be refused; the connections are made anew.
    const giveUpAt = performance.now() + givenUpMs;
    for (;;) {
      const outcome = await storage.datapoints.append(push(2)).catch(() => undefined);
      if (outcome?.[0]?.kind === 'stored') break;
      assert.ok(performance.now() < giveUpAt, 'nothing is stored after the failover');
      await wait(50);
    }
    const read = await readDatapoints(storage.datapoints, sensor, {
      order: 'asc',
      limit: 10,
      skip: 0,
    });
    assert.deepEqual(
      read.map(({ value }) => value),
      [1, 2],
    );
    assert.notEqual(await storage.members?.beat(), 'lost');
    await storage.close();
  } finally {
    await pair.close();
  }
});

test('of two that take changes the one promoted last is used, and the other left', {
  skip: noPostgres,
}, async () => {
  const pair = await startPair();
  try {
    const { port, standbyPort = 0 } = pair;
    const hosts = [port, standbyPort].map((at) => `127.0.0.1:${at}`);
    const connectionString = `postgres://kipimo@${hosts}/postgres`;
    const Client = clientClass(connectionString);
    const before = new Client({ connectionString });
    before.on('error', () => undefined);
    await before.connect();
    assert.equal(before.port, port);
    const ended = new Promise<void>((resolve) => before.once('end', resolve));
    // Nobody told the primary: it stood still, or whoever should tell it does.
    await onServer(urlOnPort(standbyPort), 'select pg_promote()');
    for (let attempt = 0; attempt < 5; attempt += 1) {
      const next = new Client({ connectionString });
      await next.connect();
      assert.equal(next.port, standbyPort);
      await next.end();
    }
    await ended;
  } finally {
    await pair.close();
  }
});

test('a commit that was cancelled while it waited for its standby is not acknowledged before', {
  skip: noPostgres,
}, async () => {
  const pair = await startPair();
  try {
    const url = urlOnPort(pair.port);
    const storage = await openPostgres({ url, log: silentLog });
    await storage.devices.insert(aDevice('d', { sensors: [aSensor('s')] }));
    pair.standbyLink.set('silent');
    let isAnswered = false;
    const pushed = storage.datapoints.append(push(1)).finally(() => {
      isAnswered = true;
    });
    const waiting = `from pg_stat_activity where wait_event = 'SyncRep'`;
    const cancel = `select pg_cancel_backend(pid) ${waiting}`;
    while ((await onServer(url, cancel)).rowCount === 0) await wait(20);
    // It waits again, for the commit that takes the connection of before over.
    const find = `select 1 ${waiting}`;
    while ((await onServer(url, find)).rowCount === 0 && !isAnswered) await wait(20);
    assert.ok(!isAnswered, 'the standby does not have it');
    pair.standbyLink.set('open');
    assert.equal((await pushed)[0]?.kind, 'stored');
    assert.equal(await storage.datapoints.count(sensor, {}), 1);
    await storage.close();
  } finally {
    await pair.close();
  }
});

test('others do not see a commit before the standby has it, though its connection is lost', {
  skip: noPostgres,
}, async () => {
  const pair = await startPair();
  const link = await openProxy();
  try {
    link.lead(pair.port);
    const open = (port: number) =>
      openPostgres({ url: urlOnPort(port), log: silentLog, serving: 'shared' });
    const [one, other] = [await open(link.port), await open(pair.port)];
    const read = async () => (await other.members?.log.read())?.entries.map(({ text }) => text);
    assert.deepEqual(await read(), []);
    pair.standbyLink.set('silent');
    const told = one.members?.log.append('told');
    const until = async (condition: string) => {
      const find = `select 1 from pg_stat_activity where ${condition}`;
      while ((await onServer(urlOnPort(pair.port), find)).rowCount === 0) await wait(20);
    };
    await until(`wait_event = 'SyncRep' and query = 'commit'`);
    link.breakOff();
    // The process has connected again, and takes over from its former connection.
    await until(
      `wait_event is not null and query like '%starts_with(member%' and state = 'active'`,
    );
    for (let times = 0; times < 20; times += 1) {
      assert.deepEqual(await read(), []);
      await wait(20);
    }
    pair.standbyLink.set('open');
    await told;
    assert.deepEqual(await read(), ['told']);
    await one.close();
    await other.close();
  } finally {
    await pair.close();
    await link.close();
  }
});
