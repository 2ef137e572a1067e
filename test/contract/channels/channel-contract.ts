import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc, { asyncProperty, string } from 'fast-check';
import { guardChannel } from '../../../src/channels/index.ts';
import { parseUsername } from '../../../src/domain/ids.ts';
import type {
  Channel,
  ChannelMessage,
  Outcome,
  Recipient,
} from '../../../src/domain/notifications/channel.ts';
import { silentLog } from '../../../src/lib/log.ts';
import type { Behaviour } from './http-stub.ts';

/** A channel, and the other side that it talks to. */
export interface OpenedChannel {
  readonly channel: Channel;
  /** Messages that reached the other side. */
  received(): number;
  /** Settles when the next one has. */
  nextReceived(): Promise<unknown>;
  /** Bytes of answers that the channel took; absent where answers have no length of their own. */
  bytesTaken?(): number;
  [Symbol.asyncDispose](): Promise<void>;
}

export interface ChannelUnderTest {
  readonly name: string;
  open(behaviour: Behaviour | 'is-absent'): Promise<OpenedChannel>;
  /** A profile that this channel can reach. */
  readonly recipient: Omit<Recipient, 'username'>;
  /** What must never be in a reason: keys, passwords. */
  readonly secrets: readonly string[];
  /** The pause that a throttled message is given; absent: the channel leaves it to the outbox. */
  readonly pauseMs?: number;
  /** Whether the other side's words are not looked at: any 2xx counts. */
  readonly isDeaf?: boolean;
}

const text = 'Humidity of the maize field is 12';

/** A message to a user with this profile. */
export function aMessage(parts: Partial<ChannelMessage> & { to?: Recipient } = {}): ChannelMessage {
  return {
    deliveryId: 'd-1',
    to: { username: parseUsername('ama') },
    text,
    createdAt: Date.UTC(2026, 0, 2, 3, 4, 5),
    ...parts,
  };
}

/** The promises of every channel, tried against its stub. */
export function describeChannel(tested: ChannelUnderTest): void {
  const to: Recipient = { username: parseUsername('ama'), ...tested.recipient };
  const { name } = tested;

  async function tryWith(
    behaviour: Behaviour | 'is-absent',
    look: (sent: Outcome, opened: OpenedChannel) => void,
  ): Promise<void> {
    await using opened = await tested.open(behaviour);
    const channel = guardChannel(opened.channel, { name, timeoutMs: 20_000, log: silentLog });
    const outcome = await channel.send(aMessage({ to }), new AbortController().signal);
    keepsSecrets(outcome);
    look(outcome, opened);
  }

  function keepsSecrets(outcome: Outcome): void {
    if (outcome.kind === 'sent') return;
    assert.ok(outcome.reason.length > 5 && outcome.reason.length <= 260, outcome.reason);
    const addresses = Object.values(tested.recipient).flat();
    for (const secret of [...tested.secrets, ...addresses, text]) {
      assert.ok(!outcome.reason.includes(secret), `${outcome.reason} shows ${secret}`);
    }
  }

  test(`${name} hands a message over once`, () =>
    tryWith('accepts', (outcome, { received }) => {
      assert.deepEqual(outcome, { kind: 'sent' });
      assert.equal(received(), 1);
    }));

  test(`${name} refuses a user without an address for it, and sends nothing`, async () => {
    await using opened = await tested.open('accepts');
    const outcome = await opened.channel.send(aMessage(), new AbortController().signal);
    assert.equal(outcome.kind, 'refused');
    assert.match(outcome.kind === 'refused' ? outcome.reason : '', /profile/);
    assert.equal(opened.received(), 0);
  });

  test(`${name} comes back later when the other side asks to slow down`, () =>
    tryWith('throttles', (outcome) => {
      assert.equal(outcome.kind, 'retry');
      if (tested.pauseMs !== undefined) {
        assert.equal(outcome.kind === 'retry' && outcome.afterMs, tested.pauseMs);
      }
    }));

  test(`${name} comes back later when the other side has a fault`, () =>
    tryWith('fails', ({ kind }) => assert.equal(kind, 'retry')));

  test(`${name} gives up what the other side refuses for good`, () =>
    tryWith('refuses', ({ kind }) => assert.equal(kind, 'refused')));

  test(`${name} counts on nothing that makes no sense`, () =>
    tryWith('babbles', ({ kind }) => assert.equal(kind, tested.isDeaf ? 'sent' : 'retry')));

  test(`${name} comes back later when nobody is there`, () =>
    tryWith('is-absent', ({ kind }) => assert.equal(kind, 'retry')));

  test(`${name} reads little of an answer without end`, async () => {
    await tryWith('floods', ({ kind }) => assert.equal(kind, tested.isDeaf ? 'sent' : 'retry'));
    let taken: (() => number) | undefined;
    await tryWith('floods', (_outcome, { bytesTaken }) => {
      taken = bytesTaken;
    });
    if (taken === undefined) return;
    // Once the other side is closed, all that was on its way is counted.
    assert.ok(taken() > 0 && taken() < 16 * 1_048_576, `${taken()} bytes were taken`);
  });

  test(`${name} lets a silent other side go when it is told to`, async () => {
    await using opened = await tested.open('is-silent');
    const channel = guardChannel(opened.channel, { name, timeoutMs: 20_000, log: silentLog });
    const stop = new AbortController();
    const received = opened.nextReceived();
    const sending = channel.send(aMessage({ to }), stop.signal);
    await received;
    stop.abort();
    const outcome = await sending;
    assert.equal(outcome.kind, 'retry');
    keepsSecrets(outcome);
  });

  test(`${name} sends any text`, async () => {
    await using opened = await tested.open('accepts');
    const { signal } = new AbortController();
    await fc.assert(
      asyncProperty(string({ unit: 'binary', maxLength: 400 }), async (anyText) => {
        const message = aMessage({ to, text: `x${anyText}` });
        assert.deepEqual(await opened.channel.send(message, signal), { kind: 'sent' });
      }),
      { numRuns: 25 },
    );
  });
}
