import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type {
  Channel,
  ChannelMessage,
  Outcome,
  Recipient,
} from '../domain/notifications/channel.ts';
import { e164 } from '../domain/notifications/recipients.ts';
import type { CodeMessage, CodeSender } from '../domain/users/message-language.ts';
import type { Clock } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import { createFairQueue } from '../lib/scheduling/fair-queue.ts';
import { TooManyWaitingError } from '../lib/scheduling/payer-queues.ts';
import { channelLimits } from './limits.ts';
import { retry } from './outcome.ts';

/** Pauses before a message is tried again; a person waits for it, so there are few. */
const pausesMs = [2_000, 8_000];

/**
 * Messages that no delivery represents, such as codes: they leave in seconds, or not at all. Codes
 * have half of a channel, and networks that ask for them alternate, so that neither alerts nor
 * other codes wait behind those that strangers ask for.
 */
export function createCodeSender(parts: {
  readonly channels: ReadonlyMap<string, Channel>;
  readonly clock: Clock;
  readonly log: Log;
  readonly pauseFor?: (ms: number) => Promise<unknown>;
}): CodeSender {
  const { clock, log } = parts;
  const { pauseFor = (ms: number) => pause(ms, undefined, { ref: false }) } = parts;
  const known = (['email', 'sms', 'voice'] as const).filter((name) => parts.channels.has(name));
  const createQueue = () =>
    createFairQueue({
      lanes: ['codes'],
      parallelMax: channelLimits.codesAtOnceMax,
      waitingMax: channelLimits.codesWaitingMax,
    });
  const queues = new Map(known.map((name) => [name, createQueue()]));

  /** Sends it when it is next in the queue; never rejects. */
  async function sendInTurn(
    queue: ReturnType<typeof createQueue>,
    askedFrom: string,
    send: () => Promise<Outcome>,
  ): Promise<Outcome> {
    try {
      return await queue.run({ lane: 'codes', payer: askedFrom }, send);
    } catch (error) {
      if (!(error instanceof TooManyWaitingError)) throw error;
      return retry('too many codes are under way');
    }
  }

  return {
    channels: new Set(known),
    async send({ channel: name, text, askedFrom, ...to }) {
      const [channel, queue] = [parts.channels.get(name), queues.get(name)];
      if (channel === undefined || queue === undefined) return;
      const message: ChannelMessage = {
        // The same for every try, so that a message that was taken twice is shown once.
        deliveryId: randomUUID(),
        to: recipientOf(name, to),
        text,
        createdAt: clock.now(),
      };
      for (const pauseMs of [...pausesMs, undefined]) {
        const outcome = await sendInTurn(queue, askedFrom, () =>
          channel.send(message, new AbortController().signal),
        );
        if (outcome.kind === 'sent') return;
        if (outcome.kind === 'refused' || pauseMs === undefined) {
          log.warn({ channel: name, reason: outcome.reason }, 'a code for a user was not sent');
          return;
        }
        await pauseFor(pauseMs);
      }
    },
  };
}

function recipientOf(
  channel: CodeMessage['channel'],
  { username, address }: Pick<CodeMessage, 'username' | 'address'>,
): Recipient {
  if (channel === 'email') return { username, email: address };
  return { username, phone: e164(address) ?? address };
}
