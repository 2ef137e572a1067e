import type { Channel } from '../../domain/notifications/channel.ts';
import type { HttpClient } from '../http-exchange.ts';
import { refused } from '../outcome.ts';
import { postToTwilio, type TwilioSettings } from '../twilio-account.ts';
import { cutToParts } from './sms-text.ts';

/** Text messages by Twilio: POST …/Messages.json with To, Body and the sender. */
export function createTwilioSms(parts: {
  readonly settings: TwilioSettings;
  readonly http: HttpClient;
  readonly now: () => number;
}): Channel {
  const { from } = parts.settings;
  const sender = /^MG[0-9a-f]{32}$/i.test(from) ? { MessagingServiceSid: from } : { From: from };
  return {
    async send(message, signal) {
      const { phone } = message.to;
      if (phone === undefined) return refused('the profile has no phone number');
      const form = { To: phone, ...sender, Body: cutToParts(message.text) };
      return postToTwilio(parts, 'Messages', form, signal);
    },
  };
}
