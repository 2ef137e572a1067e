import { type AfricasTalkingSettings, readAfricasTalking } from '../africas-talking-account.ts';
import { needed, ProviderUrlError, readProviderUrl, schemeOf } from '../provider-url.ts';
import { readTwilio, type TwilioSettings } from '../twilio-account.ts';

/** A connection to a short message centre of an operator or aggregator. */
export interface SmppSettings {
  readonly provider: 'smpp';
  readonly host: string;
  readonly port: number;
  readonly isTls: boolean;
  readonly systemId: string;
  readonly password: string;
  readonly systemType: string;
  readonly from: string;
  /** How a text longer than one message travels: in parts, or whole. */
  readonly long: 'udh' | 'payload';
}

/** Settings of the provider that sends text messages. */
export type SmsSettings = TwilioSettings | AfricasTalkingSettings | SmppSettings;

const smppExample = 'smpps://SYSTEM_ID:PASSWORD@smsc.example.org:3550?from=KIPIMO';

/** Reads KIPIMO_SMS_URL; throws ProviderUrlError. */
export function readSmsUrl(text: string): SmsSettings {
  switch (schemeOf(text)) {
    case 'twilio':
      return readTwilio(text);
    case 'africastalking':
      return readAfricasTalking(text, {
        host: 'api.africastalking.com',
        example: 'africastalking://USERNAME:API_KEY@api.africastalking.com?from=KIPIMO',
      });
    case 'smpp':
    case 'smpps':
      return readSmpp(text);
    default:
      throw new ProviderUrlError('a URL: twilio://…, africastalking://…, smpps://… or log:');
  }
}

function readSmpp(text: string): SmppSettings {
  const url = readProviderUrl(text, ['from', 'system_type', 'long']);
  const isTls = url.scheme === 'smpps';
  const { from, system_type: systemType = '', long = 'udh' } = url.parameters;
  const systemId = needed(url.username, 'the system id before the @', smppExample);
  const password = needed(url.password, 'the password before the @', smppExample);
  // SMPP 3.4 knows 15 and 8 letters; many message centres hand out longer ones.
  if (systemId.length > 64 || password.length > 64) {
    throw new ProviderUrlError('a URL with a system id and a password of at most 64 letters');
  }
  if (systemType.length > 12 || !/^[\x20-\x7e]*$/.test(systemType)) {
    throw new ProviderUrlError('a URL with a system_type of at most 12 ASCII letters');
  }
  if (long !== 'udh' && long !== 'payload') {
    throw new ProviderUrlError('a URL with long=udh or long=payload');
  }
  const sender = needed(from, 'from=, the number or name that sends', smppExample);
  if (!/^(\+?\d{1,20}|[\x20-\x7e]{1,11})$/.test(sender)) {
    throw new ProviderUrlError('a URL whose from is a number, or a name of at most 11 letters');
  }
  return {
    provider: 'smpp',
    host: needed(url.host, 'a host', smppExample),
    port: url.port ?? (isTls ? 3_550 : 2_775),
    isTls,
    systemId,
    password,
    systemType,
    from: sender,
    long,
  };
}
