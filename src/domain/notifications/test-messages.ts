import { createFailureLimiter } from '../../lib/failure-limiter.ts';
import { createHexId } from '../../lib/secret-token.ts';
import type { Actor } from '../actor.ts';
import { notFound } from '../errors.ts';
import { limits } from '../limits.ts';
import { notConfigured } from '../socials/socials.ts';
import { requireOwnAccount } from '../users/account-access.ts';
import { countTry } from '../users/failure-limiters.ts';
import { messageWords } from '../users/message-language.ts';
import type { User, UserStore } from '../users/user.ts';
import type { Outcome } from './channel.ts';
import { type OutboxStore, paidChannels, unpaidReason } from './delivery.ts';
import type { DispatcherOptions } from './dispatcher.ts';
import { type ChannelName, channelNames } from './notification.ts';
import { lackOf, recipientOf } from './recipients.ts';

/** Whether a channel leads to the user; `reason` says what is missing. */
export interface ChannelState {
  readonly channel: ChannelName;
  readonly isConfigured: boolean;
  readonly reason?: string;
}

/** The outcome of a test message. */
export type TestOutcome =
  | { readonly status: 'sent' }
  | { readonly status: 'failed'; readonly reason: string };

/** Messages to oneself, to see that a channel works: sent at once, once, and not kept. */
export function createTestMessages(
  parts: Pick<DispatcherOptions, 'channels' | 'clock' | 'reporter' | 'perDay' | 'mustBeProven'> & {
    readonly users: UserStore;
    readonly outbox: Pick<OutboxStore, 'pay'>;
  },
) {
  const { users, channels, clock, reporter, mustBeProven = false } = parts;
  const limiter = createFailureLimiter({
    failuresMax: limits.testMessagesPerMinuteMax,
    windowMs: 60_000,
    entriesMax: limits.testMessagesUsersMax,
    clock,
  });

  async function trySend(user: User, name: ChannelName, languages?: string): Promise<Outcome> {
    const channel = channels.get(name);
    if (channel === undefined) return { kind: 'refused', reason: notConfigured(name) };
    const to = recipientOf(user, user.username, name, { mustBeProven });
    if ('refusal' in to) return { kind: 'refused', reason: to.refusal };
    if (paidChannels.includes(name)) {
      const { perDay } = parts;
      const payment = await parts.outbox.pay(user.username, name, clock.now(), perDay);
      if (payment !== 'paid') return { kind: 'refused', reason: unpaidReason(name, payment) };
    }
    const text = messageWords(languages).test(user.username);
    const message = { deliveryId: `test-${createHexId()}`, to, text, createdAt: clock.now() };
    return channel.send(message, AbortSignal.timeout(limits.deliveryTimeoutMs));
  }

  return {
    async channels(actor: Actor): Promise<readonly ChannelState[]> {
      const user = await requireOwnAccount(users, actor);
      return channelNames.map((channel): ChannelState => {
        const isConfigured = channels.has(channel);
        const reason = lackOf(channels, user, user.username, channel, { mustBeProven });
        return { channel, isConfigured, ...(reason !== undefined && { reason }) };
      });
    },
    /** Throws not_found for a channel that there is not, rate_limited after some in a minute. */
    async send(actor: Actor, text: string, languages?: string): Promise<TestOutcome> {
      const user = await requireOwnAccount(users, actor);
      const name = channelNames.find((channel) => channel === text);
      if (name === undefined) {
        throw notFound(`there is no channel ${text}: use ${channelNames.join(', ')}`);
      }
      countTry('test messages', [limiter, user.id]);
      const outcome = await trySend(user, name, languages);
      reporter.deliveryTried(name, outcome.kind === 'refused' ? 'failed' : outcome.kind);
      return outcome.kind === 'sent'
        ? { status: 'sent' }
        : { status: 'failed', reason: outcome.reason };
    },
  };
}
export type TestMessages = ReturnType<typeof createTestMessages>;
