import type { Channel } from '../../domain/notifications/channel.ts';
import type { HttpClient } from '../http-exchange.ts';
import { channelLimits } from '../limits.ts';
import { refused } from '../outcome.ts';
import { postToTwilio, type TwilioSettings } from '../twilio-account.ts';
import { spoken } from './spoken-text.ts';

/** Calls by Twilio: POST …/Calls.json with To, From and what to say; it is said twice. */
export function createTwilioVoice(parts: {
  readonly settings: TwilioSettings;
  readonly http: HttpClient;
  readonly now: () => number;
}): Channel {
  const { from, language } = parts.settings;
  const attribute = language === undefined ? '' : ` language="${language}"`;
  const start = `<Response><Say loop="2"${attribute}>`;
  const end = '</Say></Response>';
  const room = channelLimits.twimlCharactersMax - start.length - end.length;
  return {
    async send(message, signal) {
      const { phone } = message.to;
      if (phone === undefined) return refused('the profile has no phone number');
      const twiml = `${start}${spoken(message.text, room)}${end}`;
      return postToTwilio(parts, 'Calls', { To: phone, From: from, Twiml: twiml }, signal);
    },
  };
}
