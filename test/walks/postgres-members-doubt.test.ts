// In a process of its own: it starts a database server and several processes that share it.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import type { Packet } from 'mqtt-packet';
import { openProxy } from '../cluster/tcp-proxy.ts';
import { noPostgres, postgresOfTests } from '../postgres-schemas.ts';
import { onServer } from '../postgres-server.ts';
import { type MemberProcess, membersOf } from './member-processes.ts';
import { connectPeer, type Peer } from './mqtt-peer.ts';

const topic = 'devices/field/sensors/s/value';
const marks = ['first', 'second'];

/** Makes the commit of a push take so long that its link can be cut before the answer. */
const slowCommits = (schema: string): string => `
  create function ${schema}.take_long() returns trigger language plpgsql
    as $$ begin perform pg_sleep(1); return null; end $$;
  create constraint trigger slow after insert on ${schema}.hot
    deferrable initially deferred for each row execute function ${schema}.take_long()`;
const quickCommits = (schema: string): string => `drop trigger slow on ${schema}.hot`;
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
): Promise<Peer> {
  const giveUpAt = performance.now() + 30_000;
  for (;;) {
    try {
      return await connectPeer({ url: running.url, clientId, version: 5, onPacket });
    } catch (error) {
      if (performance.now() > giveUpAt) throw error;
      await wait(200);
    }
  }
}

/** A subscriber of QoS 2, and what it gets. */
async function hear(member: MemberProcess, clientId: string) {
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
  peer.send({ cmd: 'subscribe', messageId: 1, subscriptions: [{ topic, qos: 2 }] });
  await until(() => isSubscribed, `${clientId} is subscribed`);
  return got;
}

const publishAll = (peer: Peer, dup: boolean): void => {
  for (const [at, mark] of marks.entries()) {
    const [payload, messageId] = [JSON.stringify(mark), at + 1];
    peer.send({ cmd: 'publish', topic, payload, qos: 2, dup, retain: false, messageId });
  }
};

describe('a commit whose answer was lost', { skip: noPostgres }, () => {
  for (const [place, schema] of [
    ['another process', 'doubt_elsewhere'],
    ['the same process', 'doubt_here'],
  ] as const) {
    test(`reaches each subscriber once; its publisher goes on at ${place}`, async () => {
      const server = await postgresOfTests();
      const start = await membersOf(server, schema);
      // One link for both: none gives the other up.
      const link = await openProxy(Number(new URL(server.url).port));
      await using ends = new AsyncDisposableStack();
      ends.defer(() => link.close());
      await using one = await start(link);
      await using other = await start(link);
      const json = { id: 'field', sensors: [{ id: 's' }] };
      assert.equal((await one.call({ method: 'POST', path: '/devices', json })).status, 204);
      const heard = [await hear(one, 'here'), await hear(other, 'there')];
      const publisher = await comeTo(one, 'publisher', () => undefined);
      await onServer(server.url, slowCommits(schema));
      publishAll(publisher, false);
      await until(
        async () => (await onServer(server.url, findCommit)).rows.length > 0,
        'it is being committed',
      );
      link.set('cut');
      // The process waits for its database, then it tells its client to try again.
      await publisher.closed;
      await onServer(server.url, quickCommits(schema));
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
});
