import type { Channel, Outcome } from '../../domain/notifications/channel.ts';
import { isRecord } from '../../lib/record.ts';
import { type AfricasTalkingSettings, postToAfricasTalking } from '../africas-talking-account.ts';
import { type HttpAnswer, type HttpClient, jsonObjectOf } from '../http-exchange.ts';
import { nonsense, notReached, pauseOf, refused, retry, sanitized, sent } from '../outcome.ts';
import { cutToParts } from './sms-text.ts';

/** Text messages by Africa's Talking: POST /version1/messaging with to, message and the sender. */
export function createAfricasTalkingSms(parts: {
  readonly settings: AfricasTalkingSettings;
  readonly http: HttpClient;
  readonly now: () => number;
}): Channel {
  const { from } = parts.settings;
  return {
    async send(message, signal) {
      const { phone } = message.to;
      if (phone === undefined) return refused('the profile has no phone number');
      const form = {
        to: phone,
        message: cutToParts(message.text),
        ...(from !== undefined && { from }),
      };
      const answer = await postToAfricasTalking(parts, '/version1/messaging', form, signal);
      return outcomeOf(answer, parts.now());
    },
  };
}

function outcomeOf(answer: HttpAnswer, now: number): Outcome {
  if (answer.kind !== 'answer') return notReached(answer, "Africa's Talking");
  const { status, retryAfter } = answer;
  if (status === 429) {
    return retry("Africa's Talking asks to slow down", pauseOf(retryAfter, now));
  }
  if (status >= 500) {
    return retry("Africa's Talking has a fault of its own", pauseOf(retryAfter, now));
  }
  if (status === 401 || status === 403) {
    return retry("Africa's Talking does not accept the key: the administrator must check it");
  }
  if (status === 400) return refused("Africa's Talking refuses the message as malformed");
  if (status !== 200 && status !== 201) return nonsense("Africa's Talking");
  const report = jsonObjectOf(answer.text)?.['SMSMessageData'];
  if (!isRecord(report)) return nonsense("Africa's Talking");
  const recipients = report['Recipients'];
  const first: unknown = Array.isArray(recipients) ? recipients[0] : undefined;
  if (isRecord(first)) return outcomeForRecipient(first);
  // No recipient at all: the whole request was refused, and Message says why.
  const words = typeof report['Message'] === 'string' ? sanitized(report['Message']) : '';
  if (words === 'InvalidSenderId') {
    return retry("Africa's Talking does not know the sender: the administrator must check it");
  }
  return words === ''
    ? nonsense("Africa's Talking")
    : refused(`Africa's Talking refuses: ${words}`);
}

/** 1xx is accepted; of the refusals, those that time or the operator can mend are tried again. */
const mendable: ReadonlySet<number> = new Set([401, 402, 405, 407, 500, 501]);

function outcomeForRecipient(recipient: Readonly<Record<string, unknown>>): Outcome {
  const { statusCode } = recipient;
  if (typeof statusCode !== 'number') return nonsense("Africa's Talking");
  if (statusCode >= 100 && statusCode <= 102) return sent;
  const status = typeof recipient['status'] === 'string' ? sanitized(recipient['status']) : '';
  const reason = `Africa's Talking: ${status === '' ? 'refused' : status} (${statusCode})`;
  return mendable.has(statusCode) ? retry(reason) : refused(reason);
}
