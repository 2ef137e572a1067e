import { createCodeSender } from '../channels/code-sender.ts';
import { type OpenChannels, openChannels } from '../channels/index.ts';
import { webhookSecretOf } from '../channels/webhook/signature.ts';
import type { Secrets } from '../config/config.ts';
import { paidChannels } from '../domain/notifications/delivery.ts';
import type { Storage } from '../storage/storage.ts';
import type { ServiceParts } from './service-parts.ts';

/** Opens the channels that are configured, or takes those that are given. */
export async function openChannelServices(
  parts: Pick<ServiceParts, 'config' | 'installationSecret' | 'clock' | 'log'> & {
    readonly secrets: Secrets;
    readonly storage: Pick<Storage, 'callTexts'>;
    /** Whether strangers may make accounts. */
    readonly signUp: 'open' | 'closed';
    readonly channels?: OpenChannels;
  },
) {
  const { config, secrets, installationSecret, clock, log } = parts;
  const { channels, answerCall, close } =
    parts.channels ??
    (await openChannels({
      settings: secrets.channels,
      webhooks: config.webhooks.privateAddresses,
      ...{ installationSecret, callTexts: parts.storage.callTexts, clock, log },
    }));
  log.info({ channels: [...channels.keys()] }, 'these channels can send');
  const paid = [...channels.keys()].filter((name) => paidChannels.some((one) => one === name));
  if (paid.length > 0 && parts.signUp === 'open') {
    log.warn(
      { channels: paid, perDay: config.notifications.messagesPerDay },
      'strangers can sign up and send messages that you pay for: see KIPIMO_SIGNUP, ' +
        'KIPIMO_SMS_CREDIT_NEW and KIPIMO_MESSAGES_PER_DAY_ALL',
    );
  }
  return {
    forServices: {
      channels,
      webhookSecretOf: (user: Parameters<typeof webhookSecretOf>[1]) =>
        webhookSecretOf(installationSecret, user),
      codes: createCodeSender({ channels, clock, log }),
    },
    forHttp: answerCall === undefined ? {} : { answerCall },
    close,
  };
}
