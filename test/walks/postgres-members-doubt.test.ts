// In a process of its own: it starts a database server and several processes that share it.
import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import type { Packet } from 'mqtt-packet';
import { postgresLimits } from '../../src/storage/postgres/postgres-limits.ts';
import { openProxy } from '../cluster/tcp-proxy.ts';
import { noPostgres, postgresOfTests } from '../postgres-schemas.ts';
import { onServer } from '../postgres-server.ts';
import { type MemberProcess, membersOf } from './member-processes.ts';
import { connectPeer, type Peer } from './mqtt-peer.ts';

const topic = 'devices/field/sensors/s/value';
const will = { topic: 'devices/field/wills', payload: JSON.stringify({ value: 'gone' }) };
const marks = ['first', 'second'];

/** Makes commits with rows of a table take so long that their link can be cut before the answer. */
const slowCommits = (table: string): string => `
  create function ${table}_takes_long() returns trigger language plpgsql
    as $$ begin perform pg_sleep(1); return null; end $$;
  create constraint trigger slow after insert on ${table}
    deferrable initially deferred for each row execute function ${table}_takes_long()`;
const quickCommits = (table: string): string => `drop trigger slow on ${table}`;
const findCommit = `
  select 1 from pg_stat_activity where state = 'active' and query = 'commit'
    and application_name = 'kipimo writes'`;

/** Waits for what comes true after a while. */
async function until(isTrue: () => boolean | Promise<boolean>, what: string): Promise<void> {
  const giveUpAt = performance.now() + 30_000;
  while (!(await isTrue())) {
    assert.ok(performance.now() < giveUpAt, `not within 30 s: ${what}`);
    await wait(20);
  }
}

/** A client with a kept session that connects until it is let in. */
async function comeTo(
  { running }: MemberProcess,
  clientId: string,
  onPacket: (packet: Packet) => void,
  last?: typeof will,
): Promise<Peer> {
  const giveUpAt = performance.now() + 30_000;
  for (;;) {
    try {
      const options = { url: running.url, clientId, version: 5, onPacket } as const;
      return await connectPeer({ ...options, ...(last && { will: last }) });
    } catch (error) {
      if (performance.now() > giveUpAt) throw error;
      await wait(200);
    }
  }
}

/** A subscriber of QoS 2, and what it gets. */
async function hear(member: MemberProcess, clientId: string, to = topic) {
  const got: string[] = [];
  const open = new Set<number>();
  let isSubscribed = false;
  const peer = await comeTo(member, clientId, (packet) => {
    const messageId = packet.messageId ?? 0;
    if (packet.cmd === 'suback') isSubscribed = true;
    if (packet.cmd === 'pubrel') {
      open.delete(messageId);
      peer.send({ cmd: 'pubcomp', messageId });
    }
    if (packet.cmd !== 'publish') return;
    if (!open.has(messageId))
      got.push((JSON.parse(packet.payload.toString()) as { value: string }).value);
    open.add(messageId);
    peer.send({ cmd: 'pubrec', messageId });
  });
  peer.send({ cmd: 'subscribe', messageId: 1, subscriptions: [{ topic: to, qos: 2 }] });
  await until(() => isSubscribed, `${clientId} is subscribed`);
  return got;
}

const publishAll = (peer: Peer, dup: boolean): void => {
  for (const [at, mark] of marks.entries()) {
    const [payload, messageId] = [JSON.stringify(mark), at + 1];
    peer.send({ cmd: 'publish', topic, payload, qos: 2, dup, retain: false, messageId });
  }
};

/** Two processes whose links to the database are one: none gives the other up. */
async function startTwo(context: TestContext, schema: string) {
  const server = await postgresOfTests();
  const start = await membersOf(server, schema);
  const link = await openProxy(Number(new URL(server.url).port));
  context.after(() => link.close());
  const [one, other] = [await start(link), await start(link)];
  context.after(() => Promise.all([one, other].map((each) => each[Symbol.asyncDispose]())));
  const json = { id: 'field', sensors: [{ id: 's' }] };
  assert.equal((await one.call({ method: 'POST', path: '/devices', json })).status, 204);
  return { server, link, one, other };
}

describe('a commit whose answer was lost', { skip: noPostgres }, () => {
  for (const [place, schema] of [
    ['another process', 'doubt_elsewhere'],
    ['the same process', 'doubt_here'],
  ] as const) {
    test(`reaches each subscriber once; its publisher goes on at ${place}`, async (context) => {
      const { server, link, one, other } = await startTwo(context, schema);
      const heard = [await hear(one, 'here'), await hear(other, 'there')];
      const publisher = await comeTo(one, 'publisher', () => undefined);
      await onServer(server.url, slowCommits(`${schema}.hot`));
      publishAll(publisher, false);
      await until(
        async () => (await onServer(server.url, findCommit)).rows.length > 0,
        'it is being committed',
      );
      link.set('cut');
      // The process waits for its database, then it tells its client to try again.
      await publisher.closed;
      await onServer(server.url, quickCommits(`${schema}.hot`));
      const stored = await onServer(
        server.url,
        `select sum(count)::integer as n from ${schema}.hot`,
      );
      assert.deepEqual(stored.rows, [{ n: marks.length }], 'the commit was made');
      link.set('open');
      const acknowledged = new Set<number>();
      const again = await comeTo(
        place === 'another process' ? other : one,
        'publisher',
        (packet) => {
          const messageId = packet.messageId ?? 0;
          if (packet.cmd === 'pubrec') again.send({ cmd: 'pubrel', messageId });
          if (packet.cmd === 'pubcomp') acknowledged.add(messageId);
        },
      );
      assert.equal(again.isSessionPresent, true);
      publishAll(again, true);
      await until(() => acknowledged.size === marks.length, 'it is acknowledged');
      await until(() => heard.every((got) => got.length >= marks.length), 'everybody has it').catch(
        () => undefined,
      );
      // A second one would come behind it.
      await wait(1_000);
      assert.deepEqual(heard, [marks, marks]);
    });
  }

  test('brings a will to all who listen, once', async (context) => {
    const schema = 'doubt_will';
    const { server, link, one, other } = await startTwo(context, schema);
    const heard = [await hear(one, 'here', will.topic), await hear(other, 'there', will.topic)];
    const mortal = await comeTo(one, 'mortal', () => undefined, will);
    await onServer(server.url, slowCommits(`${schema}.feed_log`));
    mortal.breakOff();
    await until(
      async () => (await onServer(server.url, findCommit)).rows.length > 0,
      'it is being committed',
    );
    link.set('cut');
    // So long a commit is tried again: behind it, it counts as refused.
    await wait(postgresLimits.awayMs + 2_000);
    await onServer(server.url, quickCommits(`${schema}.feed_log`));
    link.set('open');
    await until(() => heard.every((got) => got.length > 0), 'everybody has it').catch(
      () => undefined,
    );
    // A second one would come behind it.
    await wait(3_000);
    assert.deepEqual(heard, [['gone'], ['gone']]);
  });

  test('that took a session brings the will before, and leaves none behind', async (context) => {
    const schema = 'doubt_claim';
    const { server, link, one, other } = await startTwo(context, schema);
    const heard = [await hear(one, 'here', will.topic), await hear(other, 'there', will.topic)];
    await comeTo(one, 'mortal', () => undefined, will);
    await onServer(server.url, slowCommits(`${schema}.mqtt_wills`));
    // It cannot give the session away, nor publish the will.
    process.kill(one.running.pid, 'SIGSTOP');
    const next = { ...will, payload: JSON.stringify({ value: 'not let in' }) };
    const coming = connectPeer({
      ...{ url: other.running.url, clientId: 'mortal', version: 5, will: next },
      onPacket: () => undefined,
    });
    coming.catch(() => undefined);
    await until(
      async () => (await onServer(server.url, findCommit)).rows.length > 0,
      'it is being committed',
    );
    link.set('cut');
    // So long the claim is tried again: behind it, it counts as refused.
    await wait(postgresLimits.awayMs + 2_000);
    await assert.rejects(coming, /was not let in/);
    process.kill(one.running.pid, 'SIGCONT');
    await onServer(server.url, quickCommits(`${schema}.mqtt_wills`));
    link.set('open');
    await until(() => heard.every((got) => got.length > 0), 'everybody has it').catch(
      () => undefined,
    );
    // While one is not, the log is kept for it.
    const findBehind = `select 1 from ${schema}.mqtt_sessions where behind`;
    await until(
      async () => (await onServer(server.url, findBehind)).rows.length === 0,
      'each session was taken up',
    );
    // A second one would come behind it.
    await wait(3_000);
    assert.deepEqual(heard, [['gone'], ['gone']]);
  });
});
