import type { Channel, Outcome } from '../../domain/notifications/channel.ts';
import { createLruCache } from '../../lib/lru-cache.ts';
import { channelLimits } from '../limits.ts';
import { bounded, nonsense, refused, retry, sanitized } from '../outcome.ts';
import { createBoundedAgent } from './bounded-agent.ts';
import type { TwitterSettings } from './twitter-settings.ts';

type Package = Pick<typeof import('twitter-api-v2'), 'TwitterApi'>;

/** Direct messages of X (API v2), signed with OAuth 1.0a in the name of one account. */
export async function createTwitterChannel(parts: {
  readonly settings: TwitterSettings;
  readonly now: () => number;
}): Promise<Channel> {
  const { settings, now } = parts;
  const { TwitterApi }: Package = await import('twitter-api-v2');
  const ids = createLruCache<string, { readonly id: string; readonly until: number }>(
    channelLimits.twitterIdsMax,
  );

  function clientFor(signal: AbortSignal) {
    const httpAgent = createBoundedAgent({ base: settings.base, signal });
    // Compression is off: an inflated answer would not be bounded by what arrives.
    return new TwitterApi(settings, { httpAgent, compression: false }).v2;
  }

  async function idOf(handle: string, signal: AbortSignal): Promise<string | Outcome> {
    if (/^\d{5,20}$/.test(handle)) return handle;
    const known = ids.get(handle);
    if (known !== undefined && known.until > now()) return known.id;
    const answer: unknown = await clientFor(signal).userByUsername(handle);
    const id = memberOf(memberOf(answer, 'data'), 'id');
    if (typeof id === 'string' && /^\d{1,20}$/.test(id)) {
      ids.set(handle, { id, until: now() + channelLimits.twitterIdMs });
      return id;
    }
    return Array.isArray(memberOf(answer, 'errors'))
      ? refused('X knows no account of the name in the profile')
      : nonsense('X');
  }

  return {
    async send(message, signal) {
      const handle = message.to.twitter?.replace(/^@/, '');
      if (handle === undefined) return refused('the profile names no account of X (twitter)');
      if (!/^\w{1,20}$/.test(handle)) return refused('the profile names no valid account of X');
      try {
        const id = await idOf(handle, signal);
        if (typeof id !== 'string') return id;
        const text = cut(message.text);
        const answer: unknown = await clientFor(signal).sendDmToParticipant(id, { text });
        const eventId = memberOf(memberOf(answer, 'data'), 'dm_event_id');
        return typeof eventId === 'string' ? { kind: 'sent' } : nonsense('X');
      } catch (error) {
        return outcomeOf(error, { now: now(), isAborted: signal.aborted });
      }
    },
  };
}

function cut(text: string): string {
  return [...text.toWellFormed()].slice(0, channelLimits.directMessageCharactersMax).join('');
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? (value as Readonly<Record<string, unknown>>)[name]
    : undefined;
}

/** The package throws for every status of 400 and above, and for connections that break. */
function outcomeOf(error: unknown, at: { now: number; isAborted: boolean }): Outcome {
  if (at.isAborted) return retry('X did not answer in time');
  const status = memberOf(error, 'code');
  if (typeof status !== 'number') {
    return memberOf(error, 'type') === 'partial-response'
      ? nonsense('X')
      : retry('X could not be reached');
  }
  if (status === 429) return retry('X asks to slow down', pauseUntilReset(error, at.now));
  if (status >= 500) return retry('X has a fault of its own');
  if (status === 401) {
    return retry('X does not accept the keys: the administrator must check them');
  }
  const detail = memberOf(memberOf(error, 'data'), 'detail');
  const words = typeof detail === 'string' ? `: ${sanitized(detail)}` : '';
  if (status === 403 && /app|project|tier|level|oauth|permission/i.test(words)) {
    return retry(`X does not let this app write messages${words}`);
  }
  return refused(`X refuses the message (${status})${words}`);
}

/** X tells when its window begins anew, in seconds since 1970. */
function pauseUntilReset(error: unknown, now: number): number | undefined {
  const reset = Number(memberOf(memberOf(error, 'headers'), 'x-rate-limit-reset'));
  return Number.isFinite(reset) && reset > 0 ? bounded(reset * 1_000 - now) : undefined;
}
