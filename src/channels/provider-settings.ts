import { isMailAddress } from '../lib/mail-address.ts';
import {
  baseOf,
  isLoopback,
  needed,
  ProviderUrlError,
  readProviderUrl,
  schemeOf,
} from './provider-url.ts';

/** For development: any channel may be set to write to the log only. */
export interface LogSettings {
  readonly provider: 'log';
}

/** The providers that are set; a channel without one is not opened. All of it is secret. */
export interface ChannelSettings {
  readonly sms?: SmsSettings | LogSettings;
  readonly voice?: VoiceSettings | LogSettings;
  readonly twitter?: TwitterSettings | LogSettings;
  readonly email?: EmailSettings | LogSettings;
}

/** How the URL of each channel's provider is read; each throws ProviderUrlError. */
export const channelUrls = {
  sms: orLog(readSmsUrl),
  voice: orLog(readVoiceUrl),
  twitter: orLog(readTwitterUrl),
  email: orLog(readSmtpUrl),
} as const;

function orLog<Settings>(read: (text: string) => Settings) {
  return (text: string): Settings | LogSettings =>
    schemeOf(text) === 'log' ? { provider: 'log' } : read(text);
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

/** A connection to a short message centre of an operator or aggregator. */
export type SmppSettings = ReturnType<typeof readSmpp>;

function readSmpp(text: string) {
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
    provider: 'smpp' as const,
    host: needed(url.host, 'a host', smppExample),
    port: url.port ?? (isTls ? 3_550 : 2_775),
    isTls,
    systemId,
    password,
    systemType,
    from: sender,
    /** How a text longer than one message travels: in parts, or whole. */
    long,
  };
}

/** Settings of the provider that calls people and speaks the text. */
export type VoiceSettings = TwilioSettings | AfricasTalkingSettings;

const callExample =
  'africastalking://USERNAME:API_KEY@voice.africastalking.com?from=%2B254711000000';

/** Reads KIPIMO_VOICE_URL; throws ProviderUrlError. */
export function readVoiceUrl(text: string): VoiceSettings {
  switch (schemeOf(text)) {
    case 'twilio':
      return readTwilio(text);
    case 'africastalking': {
      const settings = readAfricasTalking(text, {
        host: 'voice.africastalking.com',
        example: callExample,
      });
      needed(settings.from, 'from=, the number that calls', callExample);
      return settings;
    }
    default:
      throw new ProviderUrlError('a URL: twilio://…, africastalking://… or log:');
  }
}

/** An account at Twilio, and what it sends from. */
export type TwilioSettings = ReturnType<typeof readTwilio>;
const twilioExample = 'twilio://ACCOUNT_SID:AUTH_TOKEN@api.twilio.com?from=%2B15550100';

/** Reads twilio://…; throws ProviderUrlError. */
export function readTwilio(text: string) {
  const url = readProviderUrl(text, ['from', 'account', 'language', 'base']);
  const username = needed(url.username, 'the account sid before the @', twilioExample);
  const { from, account, language } = url.parameters;
  const accountSid = account ?? username;
  if (!/^AC[0-9a-zA-Z]{2,64}$/.test(accountSid)) {
    throw new ProviderUrlError('a URL with an account sid AC…; with an API key, ?account=AC…');
  }
  if (language !== undefined && !/^[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8}){0,2}$/.test(language)) {
    throw new ProviderUrlError('a URL whose language is a tag as in sw-KE');
  }
  return {
    provider: 'twilio' as const,
    accountSid,
    /** The account itself, or an API key of it. */
    username,
    password: needed(url.password, 'the auth token before the @', twilioExample),
    /** A number, a name, or the sid of a messaging service. */
    from: needed(from, 'from=, the number that sends', twilioExample),
    /** Spoken language, for instance sw-KE. */
    ...(language !== undefined && { language }),
    base: baseOf(url, 'api.twilio.com'),
  };
}

/** An account at Africa's Talking, and what it sends from. */
export type AfricasTalkingSettings = ReturnType<typeof readAfricasTalking>;

/** Reads africastalking://…; throws ProviderUrlError. */
function readAfricasTalking(
  text: string,
  options: { readonly host: string; readonly example: string },
) {
  const { host, example } = options;
  const url = readProviderUrl(text, ['from', 'base']);
  const { from } = url.parameters;
  return {
    provider: 'africastalking' as const,
    username: needed(url.username, 'the username before the @', example),
    apiKey: needed(url.password, 'the API key before the @', example),
    /** A short code, number or name; absent: the account's default. */
    ...(from !== undefined && { from }),
    base: baseOf(url, host),
  };
}

/** A mail server that takes messages for others, and the sender's address. */
export type EmailSettings = ReturnType<typeof readSmtpUrl>;
const mailExample = 'smtps://USER:PASSWORD@mail.example.org?from=kipimo@example.org';

/** Reads KIPIMO_SMTP_URL; throws ProviderUrlError. */
export function readSmtpUrl(text: string) {
  const scheme = schemeOf(text);
  if (scheme !== 'smtp' && scheme !== 'smtps') {
    throw new ProviderUrlError('a URL: smtps://…, smtp://… or log:');
  }
  const url = readProviderUrl(text, ['from', 'name', 'tls']);
  const host = needed(url.host, 'a host', mailExample);
  const { username: user, password: pass } = url;
  if ((user === undefined) !== (pass === undefined)) {
    throw new ProviderUrlError(`a URL with both a user and a password, or neither: ${mailExample}`);
  }
  const { tls, name = 'Kipimo' } = url.parameters;
  if (tls !== undefined && tls !== 'required' && tls !== 'off') {
    throw new ProviderUrlError('a URL with tls=required or tls=off');
  }
  if (tls === 'off' && user !== undefined && !isLoopback(host)) {
    throw new ProviderUrlError('a URL without tls=off: a password must not travel in clear');
  }
  const isOff = tls === 'off' || (tls === undefined && isLoopback(host));
  const from = url.parameters['from'] ?? (user?.includes('@') === true ? user : undefined);
  const sender = needed(from, 'from=, the address that sends', mailExample);
  if (!isMailAddress(sender)) throw new ProviderUrlError(`a URL whose from is an address`);
  // TLS from the first byte, never asked for, or before anything is said.
  const security = scheme === 'smtps' ? 'tls' : isOff ? 'plain' : 'starttls';
  return {
    provider: 'smtp' as const,
    host,
    port: url.port ?? (scheme === 'smtps' ? 465 : 587),
    security,
    ...(user !== undefined && pass !== undefined && { login: { user, pass } }),
    from: sender,
    senderName: name,
  };
}

/** An app at X, and the account in whose name it writes. */
export type TwitterSettings = ReturnType<typeof readTwitterUrl>;
const xExample = 'x://APP_KEY:APP_SECRET@api.x.com?access_token=TOKEN&access_secret=SECRET';

/** Reads KIPIMO_TWITTER_URL; throws ProviderUrlError. */
export function readTwitterUrl(text: string) {
  const scheme = schemeOf(text);
  if (scheme !== 'x' && scheme !== 'twitter') throw new ProviderUrlError('a URL: x://… or log:');
  const url = readProviderUrl(text, ['access_token', 'access_secret', 'base']);
  const { access_token: accessToken, access_secret: accessSecret } = url.parameters;
  return {
    provider: 'x' as const,
    appKey: needed(url.username, 'the API key before the @', xExample),
    appSecret: needed(url.password, 'the API key secret before the @', xExample),
    accessToken: needed(accessToken, 'access_token=', xExample),
    accessSecret: needed(accessSecret, 'access_secret=', xExample),
    base: baseOf(url, 'api.x.com'),
  };
}
