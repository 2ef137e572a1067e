import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createManualClock } from '../../test/manual-clock.ts';
import { parseUsername } from '../domain/ids.ts';
import type { ChannelMessage, Outcome } from '../domain/notifications/channel.ts';
import { silentLog } from '../lib/log.ts';
import { createCodeSender } from './code-sender.ts';
import { channelLimits } from './limits.ts';

async function mailWith(
  outcomes: readonly Outcome[],
  channel: 'email' | 'sms' = 'email',
  address = 'ama@example.org',
) {
  const messages: ChannelMessage[] = [];
  const pauses: number[] = [];
  const warnings: unknown[] = [];
  const codes = createCodeSender({
    channels: new Map(
      ['email', 'sms', 'webhook'].map((name) => [
        name,
        {
          send: async (message: ChannelMessage) => {
            messages.push(message);
            return outcomes[messages.length - 1] ?? { kind: 'sent' };
          },
        },
      ]),
    ),
    clock: createManualClock(0),
    log: { ...silentLog, warn: (fields) => warnings.push(fields) },
    pauseFor: async (ms) => pauses.push(ms),
  });
  assert.deepEqual([...codes.channels], ['email', 'sms']);
  const asked = { username: parseUsername('ama'), text: 'code 1', askedFrom: '192.0.2.0/24' };
  await codes.send({ channel, address, ...asked });
  return { messages, pauses, warnings };
}

const later: Outcome = { kind: 'retry', reason: 'the mail server did not answer in time' };

test('a mail that is taken is sent once', async () => {
  const { messages, warnings } = await mailWith([]);
  assert.equal(messages.length, 1);
  assert.equal(messages[0]?.to.email, 'ama@example.org');
  assert.equal(messages[0].text, 'code 1');
  assert.deepEqual(warnings, []);
});

test('a number is dialled with its country code and nothing else', async () => {
  const { messages } = await mailWith([], 'sms', '00233 (20) 123-4567');
  assert.deepEqual(messages[0]?.to, { username: 'ama', phone: '+233201234567' });
});

test('a mail that has to wait is tried again, as the same mail', async () => {
  const { messages, pauses } = await mailWith([later]);
  assert.equal(messages.length, 2);
  assert.equal(pauses.length, 1);
  assert.equal(new Set(messages.map(({ deliveryId }) => deliveryId)).size, 1);
});

for (const [what, outcomes, tries] of [
  ['goes on having to wait', [later, later, later], 3],
  ['is refused', [{ kind: 'refused', reason: 'no such address' }], 1],
] as const) {
  test(`a mail that ${what} is given up with a warning that names nobody`, async () => {
    const { messages, warnings } = await mailWith(outcomes);
    assert.equal(messages.length, tries);
    assert.equal(warnings.length, 1);
    assert.doesNotMatch(JSON.stringify(warnings), /ama/);
  });
}

test('codes leave half of the channel, and those who ask take turns by network', async () => {
  const sent: string[] = [];
  const underWay: (() => void)[] = [];
  const codes = createCodeSender({
    channels: new Map([
      [
        'email',
        {
          send: ({ text }: ChannelMessage) => {
            sent.push(text);
            return new Promise<Outcome>((resolve) =>
              underWay.push(() => resolve({ kind: 'sent' })),
            );
          },
        },
      ],
    ]),
    clock: createManualClock(0),
    log: silentLog,
  });
  const ask = (askedFrom: string, text: string) =>
    codes.send({
      ...{ channel: 'email', username: parseUsername('ama'), address: 'ama@example.org' },
      ...{ askedFrom, text },
    });
  for (let at = 0; at < 300; at += 1) void ask('192.0.2.0/24', `of a stranger ${at}`);
  void ask('198.51.100.0/24', 'hers');
  await settled();
  assert.equal(sent.length, channelLimits.codesAtOnceMax);
  assert.ok(channelLimits.codesAtOnceMax <= channelLimits.parallelMax / 2);
  for (let turn = 0; turn < 2; turn += 1) {
    underWay.shift()?.();
    await settled();
  }
  assert.ok(sent.includes('hers'), sent.join());
});

const settled = () => new Promise((resolve) => setImmediate(resolve));
