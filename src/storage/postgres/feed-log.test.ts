import assert from 'node:assert/strict';
import { test } from 'node:test';
import { connectTo, stillWaits } from '../../../test/postgres-processes.ts';
import { emptySchemaCalled, noPostgres } from '../../../test/postgres-schemas.ts';
import { onServer } from '../../../test/postgres-server.ts';
import { payerOfAccount } from '../../domain/budgets/budget.ts';
import type { FeedLog, MemberStore } from '../../domain/members/member-store.ts';
import { sessionKey } from '../../domain/messaging/message.ts';
import type { SharedSessions } from '../../domain/messaging/session-store.ts';
import { silentLog } from '../../lib/log.ts';
import { postgresLimits } from './postgres-limits.ts';
import { openPostgres } from './postgres-storage.ts';

const key = sessionKey('user/ana', 'c');
const claiming = {
  ...{ key, identity: 'user/ana', clientId: 'c', payer: payerOfAccount('ana') },
  ...{ expirySeconds: 60, isKnown: false, note: () => '!claimed' },
};

/** The logs of several processes on one empty schema. */
async function openLogs(name: string, count: number) {
  const url = await emptySchemaCalled(name);
  const opened = new AsyncDisposableStack();
  const logs: FeedLog[] = [];
  const members: MemberStore[] = [];
  const shared: SharedSessions[] = [];
  for (let at = 0; at < count; at += 1) {
    const storage = await openPostgres({ url, log: silentLog, serving: 'shared' });
    opened.defer(() => storage.close());
    assert.ok(storage.members && storage.mqttSessions.shared);
    shared.push(storage.mqttSessions.shared);
    logs.push(storage.members.log);
    members.push(storage.members);
  }
  return { url, logs, members, shared, [Symbol.asyncDispose]: () => opened.disposeAsync() };
}

async function readAll(log: FeedLog): Promise<readonly string[]> {
  const texts: string[] = [];
  for (;;) {
    const { entries } = await log.read();
    if (entries.length === 0) return texts;
    texts.push(...entries.map(({ text }) => text));
  }
}

test('what several wrote is read in the order of their commits', { skip: noPostgres }, async () => {
  await using three = await openLogs('feed_log_order', 3);
  const [reader, one, other] = three.logs;
  assert.ok(reader && one && other);
  const written: string[] = [];
  const write = async (log: FeedLog, text: string): Promise<void> => {
    await log.append(text);
    written.push(text);
  };
  await write(other, 'first');
  for (let at = 0; at < 40; at += 1) await write(at % 3 === 0 ? other : one, `${at}`);
  assert.deepEqual(await readAll(reader), written);
  // More than one read takes, and the last one last.
  written.length = 0;
  await write(one, 'begin');
  const many = Array.from({ length: postgresLimits.logEntriesPerRead + 20 }, (_, at) => `m${at}`);
  await Promise.all(many.map((text) => write(other, text)));
  await write(one, 'end');
  assert.deepEqual(await readAll(reader), written);
});

test('a message is named in its commit, behind those of the commits before', {
  skip: noPostgres,
}, async () => {
  await using two = await openLogs('feed_log_names', 2);
  const [reader, log] = two.logs;
  assert.ok(reader && log);
  let count = 0;
  const name = (): string => {
    count += 1;
    return `${count}`;
  };
  const about = { payer: '', bytes: 1 };
  let later: Promise<unknown> | undefined;
  const first = (): string => {
    later = log.tell([{ ...about, text: name }]);
    return name();
  };
  await log.tell([{ ...about, text: first }]);
  await later;
  assert.deepEqual(await readAll(reader), ['1', '2']);
});

test('a process knows what others had written before its commit', {
  skip: noPostgres,
}, async () => {
  await using two = await openLogs('feed_log_before', 2);
  const [one, other] = two.logs;
  assert.ok(one && other);
  const before = () => [...one.before()].map(([writer, place]) => ({ writer, place }));
  assert.deepEqual(before(), []);
  await one.append('own');
  assert.deepEqual(before(), []);
  const position = await other.append('theirs');
  assert.deepEqual(before(), []);
  await one.append('own');
  assert.deepEqual(before(), [position]);
});

test('a place that is seen behind a higher one of another process is read', {
  skip: noPostgres,
}, async () => {
  await using two = await openLogs('feed_log_late', 2);
  const [one, other] = two.logs;
  assert.ok(one && other);
  await one.append('begin');
  await other.read();
  // A commit that took its place, and is made when others have been read beyond it.
  const early = await one.append('early');
  assert.ok(early);
  const { rows } = await onServer(
    two.url,
    'select coalesce(max(place), 0) + 1 as place from feed_log',
  );
  await onServer(
    two.url,
    `insert into writers (writer, member, seq) values (99, '', 0);
     insert into feed_log (writer, place, entry) overriding system value
     values (99, ${rows[0].place + 100}, 'high')`,
  );
  assert.deepEqual(await readAll(other), ['early', 'high']);
  await one.append('late');
  assert.deepEqual(await readAll(other), ['late']);
});

test('what was written lately is kept, though all have acknowledged it', {
  skip: noPostgres,
}, async () => {
  await using two = await openLogs('feed_log_tidy', 2);
  const [one, other] = two.logs;
  assert.ok(one && other);
  const isKept = async (text: string): Promise<boolean> => {
    const found = await onServer(two.url, `select 1 from feed_log where entry = '${text}'`);
    return found.rowCount === 1;
  };
  for (const text of ['before', 'after']) {
    await one.append(text);
    await other.read();
    await other.acknowledgement()();
    for (const log of two.logs) await log.tidy();
    assert.ok(await isKept(text), text);
  }
  assert.equal(await isKept('before'), false);
});

test('an entry is kept until its own process has handed it on, or its sessions are adopted', {
  skip: noPostgres,
}, async () => {
  await using two = await openLogs('feed_log_own', 2);
  const [one, other] = two.logs;
  const [writer, heir] = two.members;
  assert.ok(one && other && writer && heir && two.shared[0]);
  await two.shared[0].claim({ ...claiming, isForced: false });
  const run = async (sql: string): Promise<number> => (await onServer(two.url, sql)).rowCount ?? 0;
  const isKept = async (): Promise<boolean> => {
    await other.read();
    await other.acknowledgement()();
    for (let times = 0; times < 3; times += 1) await other.tidy();
    return (await run('select 1 from feed_log')) > 0;
  };
  await one.append('a');
  assert.ok(await isKept(), 'its process serves, and has not handed it on');
  for (let times = 0; times < 2; times += 1) await one.tidy();
  assert.equal(await isKept(), false);
  await one.append('b');
  assert.ok(await isKept());
  const setState = (sql: string) => run(`update members set ${sql} where member = ${writer.own}`);
  await setState("state = 'lost'");
  assert.ok(await isKept(), 'nobody has its sessions');
  await run(`update mqtt_sessions set owner = ${heir.own}`);
  assert.equal(await isKept(), false);
});

test('an entry is kept while a message for a group is of nobody yet, and not for ever', {
  skip: noPostgres,
}, async () => {
  await using two = await openLogs('feed_log_open', 2);
  const [one, other] = two.logs;
  assert.ok(one && other);
  const run = async (sql: string): Promise<number> => (await onServer(two.url, sql)).rowCount ?? 0;
  const isKept = async (): Promise<boolean> => {
    for (const log of two.logs) await log.tidy();
    return (await run('select 1 from feed_log')) > 0;
  };
  for (const isSettled of [true, false]) {
    await one.append('a');
    await other.read();
    await other.acknowledgement()();
    await run(`insert into mqtt_shares values ('crew', '1 1', 1, 1, false,
      (select max(place) from feed_log))`);
    assert.ok(await isKept(), 'written lately');
    for (let tries = 0; tries < 4; tries += 1) assert.ok(await isKept(), `claimed, ${tries}`);
    if (isSettled) await run('update mqtt_shares set settled = true');
    assert.equal(await isKept(), false);
    await run('delete from mqtt_shares');
  }
});

test('whoever is asked alone is waited for while it has a connection', {
  skip: noPostgres,
}, async () => {
  await using three = await openLogs('feed_log_alone', 3);
  const [one, other, third] = three.members;
  assert.ok(one && other && third);
  await other.beat();
  const position = await one.log.append('wanted');
  assert.ok(position);
  const isHeard = async () =>
    Promise.all([one.log.isHeard(position), one.log.isHeard(position, other.own)]);
  assert.deepEqual(await isHeard(), [false, false]);
  await other.log.read();
  await other.log.acknowledgement()();
  assert.deepEqual(await isHeard(), [false, true], 'the third one has not heard it');
  // Its process is killed: it acknowledges nothing any more.
  const next = await one.log.append('wanted again');
  assert.ok(next);
  assert.equal(await one.log.isHeard(next, other.own), false);
  await onServer(
    three.url,
    `select pg_terminate_backend(backend, 5000) from members where member = ${other.own}`,
  );
  assert.equal(await one.log.isHeard(next, other.own), true);
});

test('on a new connection a commit of now comes before what is read', {
  skip: noPostgres,
}, async () => {
  await using two = await openLogs('feed_log_confirmed', 2);
  const [one, other] = two.logs;
  assert.ok(one && other);
  /** The numbers of all commits of both. */
  const commits = async () => {
    const { rows } = await onServer(two.url, 'select sum(seq)::float8 as sum from writers');
    return Number(rows[0]?.sum);
  };
  await one.read();
  const before = await commits();
  await one.read();
  assert.equal(await commits(), before, 'it is read on the same connection');
  await onServer(
    two.url,
    `select pg_terminate_backend(pid) from pg_stat_activity
     where application_name = 'kipimo members'`,
  );
  await other.append('seen');
  const texts: string[] = [];
  for (let tries = 0; texts.length === 0; tries += 1) {
    assert.ok(tries < 20, 'it is never read');
    texts.push(...(await readAll(one).catch(() => [])));
  }
  assert.deepEqual(texts, ['seen']);
  assert.equal(await commits(), before + 2, 'one of each');
});

test('a claim of a group stays for who read its entry just before that went', {
  skip: noPostgres,
}, async () => {
  await using two = await openLogs('feed_log_claims', 2);
  const [[other, log], [one, reader]] = [two.logs, two.shared];
  assert.ok(other && log && one && reader);
  const claim = async (shared: SharedSessions, token: number) => {
    const how = { token, isHere: true, isSettled: true, isAgain: false };
    const step = { settled: [], givenBack: [], here: new Map(), notes: [] };
    return shared.share({ ...step, claims: [{ ...how, group: 'g', message: 'm' }] });
  };
  /** Writes an entry that both act on, so that it goes with the next call of `tidy`. */
  const write = async (text: string): Promise<void> => {
    await log.append(text);
    if (text === '[2]') assert.deepEqual(await claim(one, 1), ['won']);
    for (const each of two.logs) await each.read();
    for (const each of two.logs) await each.acknowledgement()();
    for (const each of two.logs) await each.tidy();
  };
  await one.claim({ ...claiming, isForced: false });
  for (const text of ['[1]', '[2]']) await write(text);
  await using locking = await connectTo(two.url);
  await locking.run('begin; select from feed_log for update');
  const tidying = log.tidy();
  assert.ok(await stillWaits(tidying));
  // The session moves meanwhile, and the log is read for it.
  await reader.claim({ ...claiming, isForced: true });
  assert.ok((await reader.missed(0)).entries.some(({ text }) => text === '[2]'));
  await locking.run('rollback');
  await tidying;
  assert.deepEqual(await claim(reader, 2), ['taken']);
  await reader.caughtUp([key]);
  for (const text of ['[3]', '[4]', '[5]', '[6]']) await write(text);
  assert.deepEqual(await claim(reader, 3), ['won'], 'it is never dropped');
});
