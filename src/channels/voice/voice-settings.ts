import { type AfricasTalkingSettings, readAfricasTalking } from '../africas-talking-account.ts';
import { ProviderUrlError, schemeOf } from '../provider-url.ts';
import { readTwilio, type TwilioSettings } from '../twilio-account.ts';

/** Settings of the provider that calls people and speaks the text. */
export type VoiceSettings = TwilioSettings | AfricasTalkingSettings;

const example = 'africastalking://USERNAME:API_KEY@voice.africastalking.com?from=%2B254711000000';

/** Reads KIPIMO_VOICE_URL; throws ProviderUrlError. */
export function readVoiceUrl(text: string): VoiceSettings {
  switch (schemeOf(text)) {
    case 'twilio':
      return readTwilio(text);
    case 'africastalking': {
      const settings = readAfricasTalking(text, { host: 'voice.africastalking.com', example });
      if (settings.from === undefined) {
        throw new ProviderUrlError(`a URL with from=, the number that calls: ${example}`);
      }
      return settings;
    }
    default:
      throw new ProviderUrlError('a URL: twilio://…, africastalking://… or log:');
  }
}
