import type { Channel, Outcome } from '../../domain/notifications/channel.ts';
import { isRecord } from '../../lib/record.ts';
import { nonsense, refused, retry, sanitized, sent } from '../outcome.ts';
import { askAfricasTalking, type ProviderParts, postToTwilio } from '../provider-accounts.ts';
import type { AfricasTalkingSettings, TwilioSettings } from '../provider-settings.ts';
import { cutToParts } from './sms-text.ts';

/** Text messages by Twilio: POST …/Messages.json with To, Body and the sender. */
export function createTwilioSms(parts: ProviderParts<TwilioSettings>): Channel {
  const { from } = parts.settings;
  const sender = /^MG[0-9a-f]{32}$/i.test(from) ? { MessagingServiceSid: from } : { From: from };
  return {
    async send({ to: { phone }, text }, signal) {
      if (phone === undefined) return refused('the profile has no phone number');
      return postToTwilio(
        parts,
        'Messages',
        { To: phone, ...sender, Body: cutToParts(text) },
        signal,
      );
    },
  };
}

/** Text messages by Africa's Talking: POST /version1/messaging with to, message and the sender. */
export function createAfricasTalkingSms(parts: ProviderParts<AfricasTalkingSettings>): Channel {
  const { from } = parts.settings;
  return {
    async send({ to: { phone }, text }, signal) {
      if (phone === undefined) return refused('the profile has no phone number');
      const fields = { to: phone, message: cutToParts(text), ...(from !== undefined && { from }) };
      const form = { path: '/version1/messaging', what: 'message', fields, signal } as const;
      return askAfricasTalking(parts, form, outcomeOf);
    },
  };
}

function outcomeOf(body: Readonly<Record<string, unknown>>): Outcome {
  const report = body['SMSMessageData'];
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
