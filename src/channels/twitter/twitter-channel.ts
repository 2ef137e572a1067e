import { createHmac, randomBytes } from 'node:crypto';
import type { Channel, Outcome } from '../../domain/notifications/channel.ts';
import { createLruCache } from '../../lib/cache.ts';
import { isRecord } from '../../lib/record.ts';
import { jsonObjectOf } from '../http-exchange.ts';
import { channelLimits } from '../limits.ts';
import { bounded, nonsense, notReached, pauseOf, refused, retry, sanitized } from '../outcome.ts';
import type { Answered, ProviderParts } from '../provider-accounts.ts';
import type { TwitterSettings } from '../provider-settings.ts';

/** Direct messages of X (API v2), signed with OAuth 1.0a in the name of one account. */
export function createTwitterChannel(parts: ProviderParts<TwitterSettings>): Channel {
  const { settings, http, now } = parts;
  const ids = createLruCache<string, { readonly id: string; readonly until: number }>(
    channelLimits.twitterIdsMax,
  );

  async function ask(call: {
    readonly path: string;
    readonly message?: object;
    readonly signal: AbortSignal;
  }): Promise<Answered | Outcome> {
    const { path, message, signal } = call;
    const method = message === undefined ? 'GET' : 'POST';
    const url = new URL(path, settings.base);
    const nonce = randomBytes(16).toString('hex');
    const timestamp = Math.floor(now() / 1_000);
    const authorization = signedAuthorization({ keys: settings, method, url, nonce, timestamp });
    const answer = await http.call({
      ...{ method, url, signal },
      headers: {
        authorization,
        accept: 'application/json',
        ...(message !== undefined && { 'content-type': 'application/json' }),
      },
      ...(message !== undefined && { body: JSON.stringify(message) }),
    });
    if (answer.kind !== 'answer') return notReached(answer, 'X');
    return answer.status < 300 ? answer : refusalOf(answer, now());
  }

  async function idOf(handle: string, signal: AbortSignal): Promise<string | Outcome> {
    if (/^\d{5,20}$/.test(handle)) return handle;
    const known = ids.get(handle);
    if (known !== undefined && known.until > now()) return known.id;
    const answer = await ask({ path: `/2/users/by/username/${handle}`, signal });
    if (answer.kind !== 'answer') return answer;
    const body = jsonObjectOf(answer.text);
    const id = isRecord(body?.['data']) ? body['data']['id'] : undefined;
    if (typeof id === 'string' && /^\d{1,20}$/.test(id)) {
      ids.set(handle, { id, until: now() + channelLimits.twitterIdMs });
      return id;
    }
    return Array.isArray(body?.['errors'])
      ? refused('X knows no account of the name in the profile')
      : nonsense('X');
  }

  return {
    async send(message, signal) {
      const handle = message.to.twitter?.replace(/^@/, '');
      if (handle === undefined) return refused('the profile names no account of X (twitter)');
      if (!/^\w{1,20}$/.test(handle)) return refused('the profile names no valid account of X');
      const id = await idOf(handle, signal);
      if (typeof id !== 'string') return id;
      const path = `/2/dm_conversations/with/${id}/messages`;
      const answer = await ask({ path, message: { text: cut(message.text) }, signal });
      if (answer.kind !== 'answer') return answer;
      const data = jsonObjectOf(answer.text)?.['data'];
      return isRecord(data) && typeof data['dm_event_id'] === 'string'
        ? { kind: 'sent' }
        : nonsense('X');
    },
  };
}

function cut(text: string): string {
  return [...text.toWellFormed()].slice(0, channelLimits.directMessageCharactersMax).join('');
}

function refusalOf({ status, headers, text }: Answered, now: number): Outcome {
  if (status === 429) {
    return retry('X asks to slow down', pauseUntil(headers['x-rate-limit-reset'], now));
  }
  if (status >= 500) return retry('X has a fault of its own', pauseOf(headers['retry-after'], now));
  if (status < 400) return nonsense('X');
  if (status === 401) return retry('X does not accept the keys: the administrator must check them');
  const detail = jsonObjectOf(text)?.['detail'];
  const words = typeof detail === 'string' ? `: ${sanitized(detail)}` : '';
  if (status === 403 && /app|project|tier|level|oauth|permission/i.test(words)) {
    return retry(`X does not let this app write messages${words}`);
  }
  return refused(`X refuses the message (${status})${words}`);
}

/** Pause until X begins its next window, which it gives in seconds since 1970. */
function pauseUntil(header: string | string[] | undefined, now: number): number | undefined {
  const reset = Number(header);
  return Number.isFinite(reset) && reset > 0 ? bounded(reset * 1_000 - now) : undefined;
}

/**
 * The Authorization header of a request whose body is no form: OAuth 1.0a with HMAC-SHA1
 * [RFC 5849, 3]. `nonce` is used once, `timestamp` in seconds since 1970.
 */
export function signedAuthorization(parts: {
  /** Of an app, and of the account in whose name it acts. */
  readonly keys: Omit<TwitterSettings, 'provider' | 'base'>;
  readonly method: string;
  readonly url: URL;
  readonly nonce: string;
  readonly timestamp: number;
}): string {
  const { keys, method, url, nonce, timestamp } = parts;
  const own: readonly (readonly [string, string])[] = [
    ['oauth_consumer_key', keys.appKey],
    ['oauth_token', keys.accessToken],
    ['oauth_signature_method', 'HMAC-SHA1'],
    ['oauth_timestamp', `${timestamp}`],
    ['oauth_nonce', nonce],
  ];
  const signed = [...own, ...url.searchParams]
    .map(([name, value]) => `${encoded(name)}=${encoded(value)}`)
    .sort()
    .join('&');
  const base = [method, `${url.origin}${url.pathname}`, signed].map(encoded).join('&');
  const key = `${encoded(keys.appSecret)}&${encoded(keys.accessSecret)}`;
  const signature = createHmac('sha1', key).update(base).digest('base64');
  return `OAuth ${[...own, ['oauth_signature', signature] as const]
    .map(([name, value]) => `${name}="${encoded(value)}"`)
    .join(', ')}`;
}

/** Percent-encoding of all but letters, digits and - . _ ~ [RFC 5849, 3.6]. */
function encoded(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
