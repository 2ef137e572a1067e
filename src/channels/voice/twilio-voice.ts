import type { Channel } from '../../domain/notifications/channel.ts';
import { channelLimits } from '../limits.ts';
import { refused } from '../outcome.ts';
import { type ProviderParts, postToTwilio } from '../provider-accounts.ts';
import type { TwilioSettings } from '../provider-settings.ts';
import { spoken } from './spoken-text.ts';

/** Calls by Twilio: POST …/Calls.json with To, From and what to say; it is said twice. */
export function createTwilioVoice(parts: ProviderParts<TwilioSettings>): Channel {
  const { from, language } = parts.settings;
  const attribute = language === undefined ? '' : ` language="${language}"`;
  const start = `<Response><Say loop="2"${attribute}>`;
  const end = '</Say></Response>';
  const room = channelLimits.twimlCharactersMax - start.length - end.length;
  return {
    async send({ to: { phone }, text }, signal) {
      if (phone === undefined) return refused('the profile has no phone number');
      const twiml = `${start}${spoken(text, room)}${end}`;
      return postToTwilio(parts, 'Calls', { To: phone, From: from, Twiml: twiml }, signal);
    },
  };
}
