import { type OpenChannels, openChannels } from './channels/index.ts';
import { createMailSender } from './channels/mail-sender.ts';
import { webhookSecretOf } from './channels/webhook/signature.ts';
import type { Config, Secrets } from './config.ts';
import type { HttpServerOptions } from './http/server.ts';
import type { Clock } from './lib/clock.ts';
import type { Log } from './lib/log.ts';
import type { createServices } from './services.ts';

type ServiceParts = Parameters<typeof createServices>[0];

/** The ways to reach people, as the other parts of the service need them. */
export interface MessageWays {
  readonly forServices: Pick<ServiceParts, 'channels' | 'webhookSecretOf' | 'sendMail'>;
  readonly forHttp: Pick<HttpServerOptions, 'answerCall'>;
  close(): void;
}

/** Opens the channels that are configured, or takes those that are given. */
export async function openMessageWays(parts: {
  readonly config: Config;
  readonly secrets: Secrets;
  readonly installationSecret: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly channels?: OpenChannels;
}): Promise<MessageWays> {
  const { config, secrets, installationSecret, clock, log } = parts;
  const { channels, answerCall, close } =
    parts.channels ??
    (await openChannels({
      settings: secrets.channels,
      webhooks: config.webhooks.privateAddresses,
      ...{ installationSecret, clock, log },
    }));
  const email = channels.get('email');
  log.info({ channels: [...channels.keys()] }, 'these channels can send');
  return {
    forServices: {
      channels,
      webhookSecretOf: (username) => webhookSecretOf(installationSecret, username),
      ...(email !== undefined && { sendMail: createMailSender({ channel: email, clock, log }) }),
    },
    forHttp: answerCall === undefined ? {} : { answerCall },
    close,
  };
}
