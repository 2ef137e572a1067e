// In a process of its own: it starts a NATS server.
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { hasNats, startNats } from '../../test/nats-server.ts';
import { silentLog } from '../lib/log.ts';
import { type Hints, openNatsHints } from './nats-feed.ts';

const skip = hasNats ? false : "needs Debian's package nats-server";
const patienceMs = 10_000;

async function until(what: string, isSo: () => boolean): Promise<void> {
  const giveUpAt = performance.now() + patienceMs;
  while (!isSo()) {
    assert.ok(performance.now() < giveUpAt, what);
    await wait(10);
  }
}

function open(context: TestContext, url: string, installationSecret: string) {
  const warned: string[] = [];
  const log = { ...silentLog, warn: (_: object, text: string) => void warned.push(text) };
  const setting = { servers: [new URL(url).host], isTls: false };
  const hints: Hints = openNatsHints({ setting, installationSecret, log });
  context.after(() => hints.close());
  let heard = 0;
  hints.onHint(() => {
    heard += 1;
  });
  return { hints, warned, heard: () => heard };
}

test('hints reach the others of an installation and nobody else', { skip }, async (context) => {
  const server = await startNats();
  context.after(() => server.stop());
  const all = ['a', 'a', 'b'].map((secret) => open(context, server.url, secret));
  const [one, other, stranger] = all;
  await until('all are there', () => all.every(({ hints }) => hints.isConnected()));
  const before = all.map(({ heard }) => heard());
  // Of many at once one is sent.
  for (let count = 0; count < 100; count += 1) one?.hints.say();
  await until('it was heard', () => (other?.heard() ?? 0) > (before[1] ?? 0));
  await wait(100);
  assert.deepEqual(
    all.map(({ heard }, at) => heard() - (before[at] ?? 0)),
    [0, 1, 0],
  );
  assert.equal(stranger?.hints.isConnected(), true);
});

test('a server that is away is noticed, and found again', { skip }, async (context) => {
  const server = await startNats();
  context.after(() => server.stop());
  const { hints: one } = open(context, server.url, 'a');
  const { hints: other, heard } = open(context, server.url, 'a');
  await until('both are there', () => one.isConnected() && other.isConnected());
  await server.stop();
  await until('both notice', () => !one.isConnected() && !other.isConnected());
  one.say();
  const before = heard();
  await server.start();
  await until('both are there again', () => one.isConnected() && other.isConnected());
  assert.ok(heard() > before, 'whoever comes back looks');
  const again = heard();
  one.say();
  await until('it was heard', () => heard() > again);
});

test('nobody waits for one that was never there, and the log says so', {
  skip,
}, async (context) => {
  const { hints, warned } = open(context, 'nats://127.0.0.1:1', 'a');
  hints.say();
  assert.equal(hints.isConnected(), false);
  await until('it was told', () => warned.length > 0);
  assert.match(warned.join('\n'), /^NATS is away: .*$/);
  await hints.close();
});
