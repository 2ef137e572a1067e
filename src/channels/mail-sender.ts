import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { Channel } from '../domain/notifications/channel.ts';
import type { SendMail } from '../domain/users/password-resets.ts';
import type { Clock } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';

/** Pauses before a mail is tried again; a person waits for it, so there are few. */
const pausesMs = [2_000, 8_000];

/** Mail that no delivery stands for, such as a code: it leaves within seconds, or not at all. */
export function createMailSender(parts: {
  readonly channel: Channel;
  readonly clock: Clock;
  readonly log: Log;
  readonly pauseFor?: (ms: number) => Promise<unknown>;
}): SendMail {
  const { channel, clock, log } = parts;
  const { pauseFor = (ms: number) => pause(ms, undefined, { ref: false }) } = parts;
  return async ({ username, email, text }) => {
    const message = {
      // The same for every try, so that a mail that was taken twice is shown once.
      deliveryId: randomUUID(),
      to: { username, email },
      text,
      createdAt: clock.now(),
    };
    for (const pauseMs of [...pausesMs, undefined]) {
      const outcome = await channel.send(message, new AbortController().signal);
      if (outcome.kind === 'sent') return;
      if (outcome.kind === 'refused' || pauseMs === undefined) {
        log.warn({ channel: 'email', reason: outcome.reason }, 'a mail to a user was not sent');
        return;
      }
      await pauseFor(pauseMs);
    }
  };
}
