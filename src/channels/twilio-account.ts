import type { Outcome } from '../domain/notifications/channel.ts';
import { type HttpAnswer, type HttpClient, jsonObjectOf } from './http-exchange.ts';
import { nonsense, notReached, pauseOf, refused, retry, sanitized, sent } from './outcome.ts';
import { baseOf, needed, ProviderUrlError, readProviderUrl } from './provider-url.ts';

/** An account at Twilio, and what it sends from. */
export interface TwilioSettings {
  readonly provider: 'twilio';
  readonly accountSid: string;
  /** The account itself, or an API key of it. */
  readonly username: string;
  readonly password: string;
  /** A number, a name, or the sid of a messaging service. */
  readonly from: string;
  /** Spoken language, for instance sw-KE. */
  readonly language?: string;
  readonly base: URL;
}

/** How the URL of such an account is written. */
const twilioExample = 'twilio://ACCOUNT_SID:AUTH_TOKEN@api.twilio.com?from=%2B15550100';

/** Reads twilio://…; throws ProviderUrlError. */
export function readTwilio(text: string): TwilioSettings {
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
    provider: 'twilio',
    accountSid,
    username,
    password: needed(url.password, 'the auth token before the @', twilioExample),
    from: needed(from, 'from=, the number that sends', twilioExample),
    ...(language !== undefined && { language }),
    base: baseOf(url, 'api.twilio.com'),
  };
}

/** Sends one form to a resource of the account, for instance Messages. */
export async function postToTwilio(
  parts: {
    readonly settings: TwilioSettings;
    readonly http: HttpClient;
    readonly now: () => number;
  },
  resource: 'Messages' | 'Calls',
  form: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<Outcome> {
  const { accountSid, username, password, base } = parts.settings;
  const answer = await parts.http.call({
    method: 'POST',
    url: new URL(`/2010-04-01/Accounts/${accountSid}/${resource}.json`, base),
    headers: {
      authorization: `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`,
      'content-type': 'application/x-www-form-urlencoded',
      accept: 'application/json',
    },
    body: new URLSearchParams(form).toString(),
    signal,
  });
  return outcomeOf(answer, parts.now());
}

/**
 * Codes that the operator can mend at Twilio (balance, sender, region, trial): worth a later try.
 * Twilio advises against relying on codes, so all others follow the status.
 */
const mendable: ReadonlySet<number> = new Set([
  20003, 20005, 21408, 21215, 21210, 21212, 21601, 21603, 21606, 21608, 21609, 21611, 30001, 30002,
]);

function outcomeOf(answer: HttpAnswer, now: number): Outcome {
  if (answer.kind !== 'answer') return notReached(answer, 'Twilio');
  const { status, retryAfter } = answer;
  const body = jsonObjectOf(answer.text);
  if (status === 429) return retry('Twilio asks to slow down', pauseOf(retryAfter, now));
  if (status >= 500) return retry('Twilio has a fault of its own', pauseOf(retryAfter, now));
  if (status === 401 || status === 403) {
    return retry('Twilio does not accept the account: the administrator must check the key');
  }
  if (status === 404) return retry('Twilio does not know the account or address that is set');
  if (status === 200 || status === 201) {
    return isAccepted(body) ? sent : nonsense('Twilio');
  }
  const code = typeof body?.['code'] === 'number' ? body['code'] : undefined;
  if (status !== 400 || code === undefined) return nonsense('Twilio');
  const words = typeof body?.['message'] === 'string' ? `: ${sanitized(body['message'])}` : '';
  const reason = `Twilio refuses (${code})${words}`;
  return mendable.has(code) ? retry(reason) : refused(reason);
}

/** A message or call has a sid; one that failed at once says so in its status. */
function isAccepted(body: Readonly<Record<string, unknown>> | undefined): boolean {
  return typeof body?.['sid'] === 'string' && body['status'] !== 'failed';
}
