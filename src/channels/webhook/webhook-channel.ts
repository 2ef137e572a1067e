import { isIP } from 'node:net';
import { networkOf } from '../../domain/budgets/budget.ts';
import type { Channel, ChannelMessage, Outcome } from '../../domain/notifications/channel.ts';
import { createHttpClient, type HttpAnswer } from '../http-exchange.ts';
import { channelLimits } from '../limits.ts';
import { pauseOf, refused, retry } from '../outcome.ts';
import {
  createPinnedLookup,
  createResolve,
  isPublicAddress,
  type Resolve,
} from './pinned-lookup.ts';
import { signedHeaders, webhookSecretOf } from './signature.ts';

/** Whether webhooks may reach this machine and its network, and may do without TLS there. */
export type PrivateWebhooks = 'refused' | 'allowed';

/** Posts each message, signed, to an address of the user's own. Redirects are not followed. */
export function createWebhookChannel(parts: {
  readonly installationSecret: string;
  readonly privateAddresses: PrivateWebhooks;
  readonly now: () => number;
  readonly resolve?: Resolve;
}): Channel & { close(): void } {
  const { installationSecret, privateAddresses, now, resolve = createResolve() } = parts;
  const mayBePrivate = privateAddresses === 'allowed';
  const http = createHttpClient({
    socketsMax: channelLimits.webhookParallelMax,
    keepAlive: true,
    ...(!mayBePrivate && { lookup: createPinnedLookup(resolve) }),
  });

  return {
    async send(message, signal) {
      const target = targetOf(message.to.webhook, mayBePrivate);
      if (typeof target === 'string') return refused(target);
      const body = JSON.stringify(bodyOf(message));
      const signed = signedHeaders({
        secret: webhookSecretOf(installationSecret, message.to),
        deliveryId: message.deliveryId,
        body,
        timestamp: Math.floor(now() / 1_000),
      });
      const answer = await http.call({
        method: 'POST',
        url: target,
        headers: { ...signed, 'content-type': 'application/json', 'user-agent': 'kipimo' },
        body,
        signal,
      });
      return outcomeOf(answer, now());
    },
    async networkOf({ webhook }) {
      const target = targetOf(webhook, mayBePrivate);
      if (typeof target === 'string') return undefined;
      const host = bareHost(target);
      return networkOf(isIP(host) === 0 ? await addressOf(host) : host);
    },
    lacks({ webhook }) {
      const target = targetOf(webhook, mayBePrivate);
      return typeof target === 'string' ? target : undefined;
    },
    close: () => http.close(),
  };

  /** The first address of a name; the name itself where it has none, or the system is asked. */
  function addressOf(host: string): Promise<string> {
    if (mayBePrivate) return Promise.resolve(host);
    return new Promise((done) => {
      resolve(host, (_error, [first]) => done(first?.address ?? host));
    });
  }
}

const urlCharactersMax = 2_048;

/** The address, or what is wrong with it. The URL parser writes every form of IPv4 as a.b.c.d. */
function targetOf(text: string | undefined, mayBePrivate: boolean): URL | string {
  if (text === undefined) return 'the profile has no webhook address';
  if (text.length > urlCharactersMax || !URL.canParse(text)) return 'the webhook is no valid URL';
  const url = new URL(text);
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && mayBePrivate)) {
    return 'the webhook must start with https://';
  }
  if (url.username !== '' || url.password !== '') {
    return 'the webhook must hold no user and password: check the signature instead';
  }
  const host = bareHost(url);
  if (mayBePrivate || (isIP(host) === 0 ? !privateName.test(host) : isPublicAddress(host))) {
    return url;
  }
  return privateReason;
}

/** Names that no public name server knows [RFC 6761, RFC 6762]. */
const privateName = /(^|\.)(localhost|local|internal)\.?$/;
const bareHost = (url: URL): string => url.hostname.replace(/^\[|\]$/g, '');
const privateReason = 'the webhook leads to a private address, which this service does not call';

function bodyOf(message: ChannelMessage) {
  return {
    id: message.deliveryId,
    ...(message.notificationId !== undefined && { notification: message.notificationId }),
    username: message.to.username,
    message: message.text,
    created: new Date(message.createdAt).toISOString(),
  };
}

/** 2xx is taken; 429 and 5xx are tried again; a redirect or another 4xx is the user's to mend. */
function outcomeOf(answer: HttpAnswer, now: number): Outcome {
  if (answer.kind === 'silence') return retry('the webhook did not answer in time');
  if (answer.kind === 'unreachable') {
    return answer.code === 'FORBIDDEN_ADDRESS'
      ? refused(privateReason)
      : retry(`the webhook could not be reached (${answer.code})`);
  }
  const { status, headers } = answer;
  if (status >= 200 && status < 300) return { kind: 'sent' };
  if (status >= 300 && status < 400) {
    return refused(`the webhook answers a redirect (${status}), which is not followed`);
  }
  if (status === 408 || status === 425 || status === 429 || status >= 500) {
    return retry(`the webhook answers ${status}`, pauseOf(headers['retry-after'], now));
  }
  return status === 410
    ? refused('the webhook says it is gone (410)')
    : refused(`the webhook refuses the message (${status})`);
}
