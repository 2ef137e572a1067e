import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aMessage } from '../../test/contract/channels/channel-contract.ts';
import type { Channel, Outcome } from '../domain/notifications/channel.ts';
import { type Log, silentLog } from '../lib/log.ts';
import { guardChannel } from './index.ts';
import { channelLimits } from './limits.ts';

const { signal } = new AbortController();
const sent: Outcome = { kind: 'sent' };

function guarded(send: Channel['send'], log: Log = silentLog, timeoutMs = 60_000) {
  return guardChannel({ send }, { name: 'sms', timeoutMs, parallelMax: 2, log });
}

test('what a channel throws waits for another try, and is logged without its words', async () => {
  const lines: unknown[] = [];
  const channel = guarded(() => Promise.reject(new TypeError('+255712345678 with key s3cret')), {
    ...silentLog,
    error: (fields) => lines.push(fields),
  });
  const outcome = await channel.send(aMessage(), signal);
  assert.equal(outcome.kind, 'retry');
  assert.deepEqual(lines, [{ channel: 'sms', deliveryId: 'd-1', kind: 'TypeError' }]);
});

test('what else a channel answers is not lost', async () => {
  const channel = guardChannel(
    {
      send: () => Promise.resolve(sent),
      networkOf: () => Promise.resolve('192.0.2.1'),
      lacks: () => 'the webhook is no valid URL',
    },
    { name: 'webhook', timeoutMs: 60_000, log: silentLog },
  );
  const { to } = aMessage();
  assert.equal(await channel.networkOf?.(to), '192.0.2.1');
  assert.equal(channel.lacks?.(to), 'the webhook is no valid URL');
});

test('few messages are under way at a time, in the order they came', async () => {
  const started: string[] = [];
  const releases: (() => void)[] = [];
  const channel = guarded(async ({ deliveryId }) => {
    started.push(deliveryId);
    await new Promise<void>((resolve) => releases.push(resolve));
    return sent;
  });
  const sending = ['a', 'b', 'c'].map((deliveryId) =>
    channel.send(aMessage({ deliveryId }), signal),
  );
  assert.deepEqual(started, ['a', 'b']);
  releases[0]?.();
  await sending[0];
  assert.deepEqual(started, ['a', 'b', 'c']);
  for (const release of releases) release();
  assert.deepEqual(await Promise.all(sending), [sent, sent, sent]);
});

test('beyond those that may wait, messages are told to come back', async () => {
  const stop = new AbortController();
  const channel = guarded(() => new Promise(() => undefined));
  const sending = Array.from({ length: channelLimits.waitingMax + 3 }, () =>
    channel.send(aMessage(), stop.signal),
  );
  const last = await sending.at(-1);
  assert.deepEqual(last, { kind: 'retry', reason: 'too many messages are under way' });
  stop.abort();
  assert.ok((await Promise.all(sending)).every(({ kind }) => kind === 'retry'));
});

test('a channel that overlooks its signal is left behind when its time is over', async () => {
  // The timer of the deadline does not keep a process alive, so something else has to.
  const alive = setInterval(() => undefined, 1_000);
  const channel = guarded(() => new Promise(() => undefined), silentLog, 20);
  const outcome = await channel.send(aMessage(), signal);
  clearInterval(alive);
  assert.deepEqual(outcome, { kind: 'retry', reason: 'there was no answer in time' });
});
