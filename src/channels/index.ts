import type { CallTextStore } from '../domain/notifications/call-text-store.ts';
import type { Channel } from '../domain/notifications/channel.ts';
import type { ChannelName } from '../domain/notifications/notification.ts';
import type { Clock } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import { type EmailSettings, readSmtpUrl } from './email/email-settings.ts';
import { guardChannel } from './guarded-channel.ts';
import { createHttpClient, type HttpClient } from './http-exchange.ts';
import { channelLimits } from './limits.ts';
import { schemeOf } from './provider-url.ts';
import { readSmsUrl, type SmsSettings } from './sms/sms-settings.ts';
import { readTwitterUrl, type TwitterSettings } from './twitter/twitter-settings.ts';
import type { AnswerCall } from './voice/africas-talking-voice.ts';
import { readVoiceUrl, type VoiceSettings } from './voice/voice-settings.ts';
import type { PrivateWebhooks } from './webhook/webhook-channel.ts';

/** For development: any channel may be set to write to the log only. */
interface LogSettings {
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

export interface ChannelParts {
  readonly settings: ChannelSettings;
  readonly webhooks: PrivateWebhooks;
  readonly installationSecret: string;
  readonly callTexts: CallTextStore;
  readonly clock: Clock;
  readonly log: Log;
}

export interface OpenChannels {
  readonly channels: ReadonlyMap<ChannelName, Channel>;
  /** Present when calls go by a provider that asks back what to say. */
  readonly answerCall?: AnswerCall;
  close(): void;
}

interface Opened {
  readonly channel: Channel & { readonly answerCall?: AnswerCall; close?(): void };
  readonly timeoutMs?: number;
  readonly parallelMax?: number;
}

/** Opens the channels that are set, and no package of any other. Nothing is connected yet. */
export async function openChannels(parts: ChannelParts): Promise<OpenChannels> {
  const { settings, log } = parts;
  const http = createHttpClient();
  const api = { http, now: () => parts.clock.now() };
  const opened: [ChannelName, Opened][] = [];
  const open = async <Settings extends { readonly provider: string }>(
    name: ChannelName,
    given: Settings | LogSettings | undefined,
    openWith: (settings: Settings) => Promise<Opened>,
  ): Promise<void> => {
    if (given === undefined) return;
    opened.push([name, isLog(given) ? await openLog(name, log) : await openWith(given)]);
  };
  await open('sms', settings.sms, (sms: SmsSettings) => openSms(sms, api));
  await open('voice', settings.voice, (voice: VoiceSettings) => openVoice(voice, parts, api));
  await open('twitter', settings.twitter, (twitter: TwitterSettings) => openTwitter(twitter, api));
  await open('email', settings.email, openEmail);
  opened.push(['webhook', await openWebhook(parts)]);
  const answerCall = opened.find(([, { channel }]) => channel.answerCall !== undefined)?.[1].channel
    .answerCall;
  return {
    channels: new Map(
      opened.map(([name, { channel, ...options }]) => [
        name,
        guardChannel(channel, { name, log, timeoutMs: channelLimits.providerMs, ...options }),
      ]),
    ),
    ...(answerCall !== undefined && { answerCall }),
    close() {
      for (const [, { channel }] of opened) channel.close?.();
      http.close();
    },
  };
}

interface Api {
  readonly http: HttpClient;
  readonly now: () => number;
}

const isLog = (settings: { readonly provider: string }): settings is LogSettings =>
  settings.provider === 'log';

async function openLog(name: ChannelName, log: Log): Promise<Opened> {
  const { createLogChannel } = await import('./log/log-channel.ts');
  return { channel: createLogChannel({ log, name }) };
}

async function openSms(settings: SmsSettings, api: Api): Promise<Opened> {
  switch (settings.provider) {
    case 'twilio': {
      const { createTwilioSms } = await import('./sms/twilio-sms.ts');
      return { channel: createTwilioSms({ settings, ...api }) };
    }
    case 'africastalking': {
      const { createAfricasTalkingSms } = await import('./sms/africas-talking-sms.ts');
      return { channel: createAfricasTalkingSms({ settings, ...api }) };
    }
    default: {
      const { createSmppSms } = await import('./sms/smpp-sms.ts');
      return { channel: await createSmppSms({ settings }), timeoutMs: channelLimits.smppMs };
    }
  }
}

async function openVoice(
  settings: VoiceSettings,
  { installationSecret, callTexts }: ChannelParts,
  api: Api,
): Promise<Opened> {
  if (settings.provider === 'twilio') {
    const { createTwilioVoice } = await import('./voice/twilio-voice.ts');
    return { channel: createTwilioVoice({ settings, ...api }) };
  }
  const { createAfricasTalkingVoice } = await import('./voice/africas-talking-voice.ts');
  const parts = { settings, installationSecret, callTexts, ...api };
  return { channel: createAfricasTalkingVoice(parts) };
}

async function openTwitter(settings: TwitterSettings, api: Api): Promise<Opened> {
  const { createTwitterChannel } = await import('./twitter/twitter-channel.ts');
  return { channel: createTwitterChannel({ settings, ...api }) };
}

async function openEmail(settings: EmailSettings): Promise<Opened> {
  const { createEmailChannel } = await import('./email/email-channel.ts');
  return { channel: await createEmailChannel({ settings }), timeoutMs: channelLimits.emailMs };
}

async function openWebhook(parts: ChannelParts): Promise<Opened> {
  const { installationSecret, webhooks: privateAddresses, clock } = parts;
  const { createWebhookChannel } = await import('./webhook/webhook-channel.ts');
  return {
    channel: createWebhookChannel({
      installationSecret,
      privateAddresses,
      now: () => clock.now(),
    }),
    timeoutMs: channelLimits.webhookMs,
    parallelMax: channelLimits.webhookParallelMax,
  };
}
