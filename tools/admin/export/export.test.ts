import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { toColumnBatch } from '../../../src/domain/datapoints/column-batch.ts';
import {
  guestUsername,
  parseCorrectionId,
  parseInvitationId,
  parseNotificationId,
  type Username,
} from '../../../src/domain/ids.ts';
import type { InvitationTarget } from '../../../src/domain/sharing/invitations.ts';
import { parseJson } from '../../../src/lib/json.ts';
import type { Storage } from '../../../src/storage/storage.ts';
import {
  aDevice,
  aGateway,
  aGroup,
  aKey,
  anActuator,
  aProject,
  aSensor,
  aSocial,
  aUser,
  deviceId,
  gatewayId,
  groupId,
  noon,
  sensorId,
  username,
} from '../../../test/contract/storage/builders.ts';
import { temporaryStorage } from '../../../test/temporary-storage.ts';
import { readExport, writeExport } from './export-file.ts';
import { type ExportRecord, exportVersion } from './export-format.ts';
import { exportLines } from './exporter.ts';
import { importLines } from './importer.ts';

async function withStorages(
  count: number,
  work: (storages: readonly Storage[], directory: string) => Promise<void>,
): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'kipimo-export-'));
  try {
    await work(await Promise.all(Array.from({ length: count }, temporaryStorage)), directory);
  } finally {
    rmSync(directory, { recursive: true });
  }
}

/** Some of everything, and what is easily lost: order, late values, long numbers, states. */
async function fill(storage: Storage): Promise<void> {
  const { users, credentials, devices, gateways, projects, groups, grants } = storage;
  for (const name of ['ana', 'bob', 'cyd']) {
    const profile = { email: `${name}@example.org`, phone: ['+255712345678'] };
    const user = { ...aUser(name), profile, smsCredit: 7, isDisabled: name === 'cyd' };
    await users.insert(user, `hash of ${name}`);
  }

  await credentials.insertKey({ ...aKey('k1', 'ana'), devices: [deviceId('d1')] });
  await groups.insert(aGroup('g1', { owner: username('ana'), usernames: [username('bob')] }));
  const actuators = [anActuator('fan', { value: { speed: 3 }, setBy: username('bob') })];
  const sensors = [
    aSensor('TC1', { unit: 'DegreeCelsius' }),
    aSensor('SM1', { measures: 'counter' }),
    aSensor('none'),
  ];
  const old = aSensor('old');
  const own = { owner: username('ana'), visibility: 'private' } as const;
  await devices.insert(
    aDevice('d1', { ...own, sensors: [...sensors, old], actuators, meta: { a: [null] } }),
  );
  await devices.insert(aDevice('d2', { owner: guestUsername, sensors }));
  await gateways.insert(aGateway('w1', { ...own, lastSeenAt: noon, status: { up: true } }));
  const members = { deviceIds: [deviceId('d1')], gatewayIds: [gatewayId('w1')] };
  await projects.insert(aProject('p1', { owner: username('ana'), ...members }));
  const added = { deviceIds: [deviceId('d2'), deviceId('d1')] };
  await projects.update(aProject('p1').id, added, { isOwners: false });
  const scopes = ['devices:view', 'devices-data:view'] as const;
  await grants.put({ kind: 'device', resource: 'd1', username: username('bob'), scopes });
  await grants.putForGroup({ kind: 'device', resource: 'd1', groupId: groupId('g1'), scopes });
  await fillValues(storage);
  await fillRetention(storage);
  await fillCorrections(storage);
  await fillMessages(storage);
  await fillInvitations(storage);
}

/** Open ones, a used up one, and who took them: one account was not given all of it yet. */
async function fillInvitations({ invitations }: Storage): Promise<void> {
  const [ana, bob] = [aUser('ana').id, aUser('bob').id];
  const one = { giver: ana, createdAt: noon, expiresAt: noon + 10, isRevoked: false } as const;
  const device = { kind: 'device', resource: 'd1', scopes: ['devices:view'] } as const;
  const group = { kind: 'group', resource: groupId('g1') } as const;
  const add = (id: string, usesLeft: number, targets: readonly InvitationTarget[]) =>
    invitations.insert({ ...one, id: parseInvitationId(id), hash: `of ${id}`, usesLeft, targets });
  await add('i1', 5, [device, group]);
  await add('i2', 1, [{ ...device, kind: 'project', resource: 'p1' }]);
  await add('i3', 1, [group]);
  await invitations.take(parseInvitationId('i1'), bob, noon);
  await invitations.finish(parseInvitationId('i1'), bob);
  await invitations.take(parseInvitationId('i2'), bob, noon);
  await invitations.revoke(ana, parseInvitationId('i3'));
}

async function fillValues({ datapoints }: Storage): Promise<void> {
  const sensor = { deviceId: deviceId('d1'), sensorId: sensorId('TC1') };
  const at = (minutes: number) => noon + minutes * 60_000;
  const many = Array.from({ length: 12_000 }, (_, n) => ({
    value: n / 8,
    timestamp: at(Math.floor(n / 3)),
    receivedAt: noon + n,
  }));
  await datapoints.append([{ ...sensor, batch: toColumnBatch(many) }]);
  const late = { value: 'late', timestamp: at(5), receivedAt: at(20_000) };
  await datapoints.append([{ ...sensor, batch: toColumnBatch([late]) }]);
  const other = { deviceId: deviceId('d2'), sensorId: sensorId('SM1') };
  const values = [parseJson('123456789012345678901234567890'), { a: '\u0000ü' }, null, true];
  const odd = values.map((value, n) => ({ value, receivedAt: at(n % 2) }));
  await datapoints.append([{ ...other, batch: toColumnBatch(odd) }]);
}

/** Settings at every place, and hours that represent values of days before. */
async function fillRetention({ datapoints, retentions, retaining }: Storage): Promise<void> {
  const sensor = { deviceId: deviceId('d1'), sensorId: sensorId('old') };
  const ana = { kind: 'user', username: username('ana') } as const;
  await retentions.put(ana, { rawDays: 90, hourlyDays: 3_650 });
  await retentions.put({ kind: 'device', deviceId: sensor.deviceId }, {});
  await retentions.put({ kind: 'sensor', ...sensor }, { rawDays: 7 });
  const values = Array.from({ length: 500 }, (_, n) => {
    const timestamp = noon + (n - 600) * 600_000;
    const value = n % 100 === 0 ? 'wet' : n % 50 === 0 ? `${n}` : n / 4;
    return { value, timestamp, receivedAt: timestamp };
  });
  await datapoints.append([{ ...sensor, batch: toColumnBatch(values) }]);
  const limits = { rawBefore: Math.floor(noon / 86_400_000) * 86_400_000 };
  for (let state = 'more'; state !== 'done'; ) {
    ({ state } = await retaining.step(sensor, limits));
    if (state === 'wait') await wait(5);
  }
}

async function fillCorrections({ corrections }: Storage): Promise<void> {
  const about = { deviceId: deviceId('d1'), sensorId: sensorId('TC1'), by: username('ana') };
  const id = (n: number) => parseCorrectionId(`${n}`.repeat(24));
  const to = noon + 600_000;
  const times = { from: noon, to, createdAt: to, count: 4 };
  const items = [{ time: noon, isTimed: true, value: { a: '\u0000' } }];
  const reach = { until: noon + 6_000, ahead: [to, to + 1] } as const;
  await corrections.insert({ id: id(1), ...about, ...times, kind: 'corrected', items, reach });
  const more = { kind: 'removed', value: 4, items: [] } as const;
  await corrections.insert({ id: id(2), ...about, ...times, ...more, reach: { until: to } });
}

async function fillMessages({ notifications, socials }: Storage): Promise<void> {
  const id = parseNotificationId('0197c1aa0000700080000001');
  await notifications.insert(
    {
      ...{ id, owner: username('ana'), createdAt: noon, modifiedAt: noon },
      condition: { devices: [deviceId('d1')], sensors: [], expression: 'TC1 > 8' },
      action: { kind: 'message', usernames: ['bob'], channels: ['sms'], message: '{TC1}' },
      ...{ actionSpelling: 'plain', throttlingSeconds: 60, status: 'active' },
    },
    { timesSent: 4, lastFiredAt: noon, lastFailureAt: noon, lastFailureReason: 'busy' },
  );
  const state = { holdsSince: noon, firedFor: { TC1: noon } };
  await notifications.saveStates([{ notificationId: id, deviceId: deviceId('d1'), state }]);
  const said = aSocial('s1', { sender: 'ana', recipient: 'bob' });
  await socials.insert([{ ...said, channel: 'none', status: 'sent' }]);
}

async function linesOf(storage: Storage, account?: Username): Promise<readonly ExportRecord[]> {
  return Array.fromAsync(exportLines(storage, account));
}

const lastOf = (storage: Storage) =>
  storage.datapoints.lastValue({ deviceId: deviceId('d1'), sensorId: sensorId('TC1') });

test('everything out, and back identical on a fresh one', () =>
  withStorages(2, async ([one, other], directory) => {
    assert.ok(one !== undefined && other !== undefined);
    await fill(one);
    const file = join(directory, 'all.kipimo-export');
    await writeExport(file, exportLines(one));
    const { counts, leftOut } = await importLines(other, readExport(file));
    assert.equal(leftOut, 0);
    assert.equal(counts.get('datapoint'), 12_006);
    assert.ok((counts.get('hour') ?? 0) > 70, `${counts.get('hour')} hours`);
    assert.equal(counts.get('retention'), 3);
    const hours = (await linesOf(one)).flatMap((line) => (line.kind === 'hours' ? line.hours : []));
    assert.ok(hours.some(([, , , , , , , , , , , kinds]) => kinds !== undefined));
    assert.ok(hours.some((hour) => hour.length === 11));
    assert.deepEqual(await linesOf(other), await linesOf(one));
    assert.deepEqual(await lastOf(other), await lastOf(one), 'the late one is the last one');
    assert.equal(counts.get('invitation'), 2, 'one was revoked');
    const use = { invitation: parseInvitationId('i1'), user: aUser('bob').id };
    assert.equal(await other.invitations.take(use.invitation, use.user, noon), 'given');
    assert.equal((await other.invitations.find('of i2'))?.usesLeft, 0);
  }));

test('one account is exported with what is its own, and nothing of others', () =>
  withStorages(2, async ([one, other]) => {
    assert.ok(one !== undefined && other !== undefined);
    await fill(one);
    const lines = await linesOf(one, username('ana'));
    const users = lines.filter(({ kind }) => kind === 'user');
    const devices = lines.flatMap((line) => (line.kind === 'device' ? [line.device.id] : []));
    assert.deepEqual([users.length, devices], [1, ['d1']]);
    const outcome = await importLines(other, exportLines(one, username('ana')));
    // A member, a grant and a message of bob, who has no account there.
    assert.equal(outcome.leftOut, 3);
  }));

test('what a killed export left behind is in nobody’s way', () =>
  withStorages(1, async ([storage], directory) => {
    assert.ok(storage !== undefined);
    const file = join(directory, 'again');
    writeFileSync(`${file}.partial`, 'half of it');
    await writeExport(file, exportLines(storage));
    const { counts } = await importLines(storage, readExport(file));
    assert.equal(counts.get('end'), 1);
  }));

test('an export without its end, of another kind, or of what is there is refused', () =>
  withStorages(2, async ([one, other], directory) => {
    assert.ok(one !== undefined && other !== undefined);
    await fill(one);
    const file = join(directory, 'cut');
    await writeExport(file, exportLines(one));
    const whole = readFileSync(file);
    writeFileSync(file, whole.subarray(0, whole.length - 100));
    await assert.rejects(importLines(other, readExport(file)), /damaged/);
    writeFileSync(file, 'hello');
    await assert.rejects(importLines(other, readExport(file)), /no export of kipimo/);
    for (const text of ['null\n', 'hello\n']) {
      writeFileSync(file, gzipSync(text));
      await assert.rejects(importLines(other, readExport(file)), /no export of kipimo/);
    }
    await assert.rejects(
      importLines(other, some((await linesOf(one)).slice(0, 1))),
      /not complete/,
    );
    await assert.rejects(importLines(other, some((await linesOf(one)).slice(1))), /no export/);
    await assert.rejects(importLines(one, exportLines(one)), /there already/);
    const newer = { kind: 'kipimo-export', version: exportVersion + 1, account: null } as const;
    await assert.rejects(importLines(other, some([newer])), /needs a newer kipimo/);
  }));

test('a line that the API refuses is not taken in, nor one without an end', () =>
  withStorages(1, async ([storage], directory) => {
    assert.ok(storage !== undefined);
    const first = { kind: 'kipimo-export', version: exportVersion, account: null } as const;
    const user = { ...aUser('ana'), username: '..' as Username };
    const bad = { kind: 'user', user, passwordHash: '' } as const;
    await assert.rejects(
      importLines(storage, some([first, bad])),
      /^DomainError: line 2, username/,
    );
    const odd = { ...first, version: 'x' as unknown as number };
    await assert.rejects(importLines(storage, some([odd])), /line 1, version: "x"/);
    const file = join(directory, 'endless');
    writeFileSync(file, gzipSync(Buffer.alloc(65 * 1_048_576, ' ')));
    await assert.rejects(importLines(storage, readExport(file)), /line 1 has more than \d+ bytes/);
  }));

async function* some(lines: readonly ExportRecord[]): AsyncGenerator<ExportRecord> {
  yield* lines;
}
