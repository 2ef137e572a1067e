import type { CallTextStore, Channel, Outcome } from '../domain/notifications/channel.ts';
import type { ChannelName } from '../domain/notifications/notification.ts';
import type { Clock } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import { createSemaphore, TooManyWaitingError } from '../lib/scheduling/payer-queues.ts';
import { createHttpClient } from './http-exchange.ts';
import { channelLimits } from './limits.ts';
import { retry, sent } from './outcome.ts';
import type { ProviderParts } from './provider-accounts.ts';
import type {
  ChannelSettings,
  EmailSettings,
  LogSettings,
  SmsSettings,
  TwitterSettings,
  VoiceSettings,
} from './provider-settings.ts';
import type { AnswerCall } from './voice/http-voice.ts';
import type { PrivateWebhooks } from './webhook/webhook-channel.ts';

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
  const { settings: given, log, installationSecret, callTexts } = parts;
  const http = createHttpClient();
  const api = { http, now: () => parts.clock.now() };
  const opened: [ChannelName, Opened][] = [];
  const open = async <Settings extends { readonly provider: string }>(
    name: ChannelName,
    settings: Settings | LogSettings | undefined,
    openWith: (settings: Settings) => Promise<Opened>,
  ): Promise<void> => {
    if (settings === undefined) return;
    opened.push([name, isLog(settings) ? openLog(name, log) : await openWith(settings)]);
  };
  await open('sms', given.sms, (settings: SmsSettings) => openSms(settings, api));
  await open('voice', given.voice, async (settings: VoiceSettings) => {
    const { createAfricasTalkingVoice, createTwilioVoice } = await import('./voice/http-voice.ts');
    const channel =
      settings.provider === 'twilio'
        ? createTwilioVoice({ settings, ...api })
        : createAfricasTalkingVoice({ settings, installationSecret, callTexts, ...api });
    return { channel };
  });
  await open('twitter', given.twitter, async (settings: TwitterSettings) => {
    const { createTwitterChannel } = await import('./twitter/twitter-channel.ts');
    return { channel: createTwitterChannel({ settings, ...api }) };
  });
  await open('email', given.email, async (settings: EmailSettings) => {
    const { createEmailChannel } = await import('./email/email-channel.ts');
    return { channel: await createEmailChannel({ settings }), timeoutMs: channelLimits.emailMs };
  });
  opened.push(['webhook', await openWebhook(parts, api.now)]);
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

const isLog = (settings: { readonly provider: string }): settings is LogSettings =>
  settings.provider === 'log';

async function openSms(
  settings: SmsSettings,
  api: Omit<ProviderParts<unknown>, 'settings'>,
): Promise<Opened> {
  if (settings.provider === 'smpp') {
    const { createSmppSms } = await import('./sms/smpp-sms.ts');
    return { channel: await createSmppSms({ settings }), timeoutMs: channelLimits.smppMs };
  }
  const { createAfricasTalkingSms, createTwilioSms } = await import('./sms/http-sms.ts');
  return {
    channel:
      settings.provider === 'twilio'
        ? createTwilioSms({ settings, ...api })
        : createAfricasTalkingSms({ settings, ...api }),
  };
}

async function openWebhook(
  { installationSecret, webhooks: privateAddresses }: ChannelParts,
  now: () => number,
): Promise<Opened> {
  const { createWebhookChannel } = await import('./webhook/webhook-channel.ts');
  return {
    channel: createWebhookChannel({ installationSecret, privateAddresses, now }),
    timeoutMs: channelLimits.webhookMs,
    parallelMax: channelLimits.webhookParallelMax,
  };
}

/** For development: logs that a message was due, without text and address: it counts as sent. */
const openLog = (name: ChannelName, log: Log): Opened => ({
  channel: {
    async send({ deliveryId, to: { username }, text: { length: characters } }) {
      log.info(
        { channel: name, deliveryId, username, characters },
        'a message was due; the channel is set to log: and sends nothing',
      );
      return sent;
    },
  },
});

/** A channel that keeps its promises whatever the one inside does: bounded, and never throws. */
export function guardChannel(
  channel: Channel,
  options: {
    readonly name: string;
    readonly timeoutMs: number;
    readonly parallelMax?: number;
    readonly log: Log;
  },
): Channel {
  const { name, timeoutMs, parallelMax = channelLimits.parallelMax, log } = options;
  const places = createSemaphore({ parallelMax, waitingMax: channelLimits.waitingMax });

  return {
    ...channel,
    async send(message, signal) {
      try {
        return await places.run('', () => {
          if (signal.aborted) return Promise.resolve(retry('the service is stopping'));
          const deadline = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
          return Promise.race([channel.send(message, deadline), endOf(deadline, signal)]);
        });
      } catch (error) {
        if (error instanceof TooManyWaitingError) return retry('too many messages are under way');
        // A bug of ours or of a package. Its text may hold an address or a secret: only its kind.
        const kind = error instanceof Error ? error.name : typeof error;
        log.error({ channel: name, deliveryId: message.deliveryId, kind }, 'a channel failed');
        return retry('the channel has a fault; the administrator finds it in the log');
      }
    },
  };
}

/** For channels that overlook the signal: the wait ends shortly after it all the same. */
function endOf(deadline: AbortSignal, stop: AbortSignal): Promise<Outcome> {
  return new Promise((resolve) => {
    const end = () => {
      resolve(retry(stop.aborted ? 'the service is stopping' : 'there was no answer in time'));
    };
    // The channel itself knows better what was not answered: it goes first.
    const endLater = () => setImmediate(() => setImmediate(end));
    deadline.addEventListener('abort', endLater, { once: true });
  });
}
