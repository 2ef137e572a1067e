import type { Outcome } from '../domain/notifications/channel.ts';
import { type HttpAnswer, type HttpCall, type HttpClient, jsonObjectOf } from './http-exchange.ts';
import { nonsense, notReached, pauseOf, refused, retry, sanitized, sent } from './outcome.ts';
import type { AfricasTalkingSettings, TwilioSettings } from './provider-settings.ts';

type JsonObject = Readonly<Record<string, unknown>>;
/** An answer that came. */
export type Answered = Extract<HttpAnswer, { readonly kind: 'answer' }>;

/** Parts that every request to a provider needs. */
export interface ProviderParts<Settings> {
  readonly settings: Settings;
  readonly http: HttpClient;
  readonly now: () => number;
}

/** Sends a form; `read` says what an answer means that is neither slow nor the provider's fault. */
async function postForm(
  { http, now }: ProviderParts<unknown>,
  form: Pick<HttpCall, 'url' | 'headers' | 'signal'> & {
    readonly provider: string;
    readonly fields: Readonly<Record<string, string>>;
  },
  read: (answer: Answered, body: JsonObject | undefined) => Outcome,
): Promise<Outcome> {
  const { provider, url, headers, fields, signal } = form;
  const answer = await http.call({
    ...{ method: 'POST', url, signal },
    headers: {
      ...headers,
      'content-type': 'application/x-www-form-urlencoded',
      accept: 'application/json',
    },
    body: new URLSearchParams(fields).toString(),
  });
  if (answer.kind !== 'answer') return notReached(answer, provider);
  const { status, headers: told } = answer;
  const pauseMs = pauseOf(told['retry-after'], now());
  if (status === 429) return retry(`${provider} asks to slow down`, pauseMs);
  if (status >= 500) return retry(`${provider} has a fault of its own`, pauseMs);
  return read(answer, jsonObjectOf(answer.text));
}

/** Sends one form to a resource of the account, for instance Messages. */
export function postToTwilio(
  parts: ProviderParts<TwilioSettings>,
  resource: 'Messages' | 'Calls',
  fields: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<Outcome> {
  const { accountSid, username, password, base } = parts.settings;
  const url = new URL(`/2010-04-01/Accounts/${accountSid}/${resource}.json`, base);
  const login = Buffer.from(`${username}:${password}`).toString('base64');
  const headers = { authorization: `Basic ${login}` };
  return postForm(parts, { provider: 'Twilio', url, headers, fields, signal }, outcomeAtTwilio);
}

/**
 * Codes that the operator can mend at Twilio (balance, sender, region, trial): worth a later try.
 * Twilio advises against relying on codes, so all others follow the status.
 */
const mendable: ReadonlySet<number> = new Set([
  20003, 20005, 21408, 21215, 21210, 21212, 21601, 21603, 21606, 21608, 21609, 21611, 30001, 30002,
]);

function outcomeAtTwilio({ status }: Answered, body: JsonObject | undefined): Outcome {
  if (status === 401 || status === 403) {
    return retry('Twilio does not accept the account: the administrator must check the key');
  }
  if (status === 404) return retry('Twilio does not know the account or address that is set');
  if (status === 200 || status === 201) {
    // A message or call has a sid; one that failed at once says so in its status.
    const isAccepted = typeof body?.['sid'] === 'string' && body['status'] !== 'failed';
    return isAccepted ? sent : nonsense('Twilio');
  }
  const code = typeof body?.['code'] === 'number' ? body['code'] : undefined;
  if (status !== 400 || code === undefined) return nonsense('Twilio');
  const words = typeof body?.['message'] === 'string' ? `: ${sanitized(body['message'])}` : '';
  const reason = `Twilio refuses (${code})${words}`;
  return mendable.has(code) ? retry(reason) : refused(reason);
}

/** Sends a form, with the key in its own header. `read` says what an object in answer means. */
export function askAfricasTalking(
  parts: ProviderParts<AfricasTalkingSettings>,
  form: {
    readonly path: string;
    /** The thing that the form asks for, as its refusal names it. */
    readonly what: 'message' | 'call';
    readonly fields: Readonly<Record<string, string>>;
    readonly signal: AbortSignal;
  },
  read: (body: JsonObject) => Outcome,
): Promise<Outcome> {
  const { username, apiKey: apikey, base } = parts.settings;
  const provider = "Africa's Talking";
  const { path, what, signal } = form;
  const fields = { username, ...form.fields };
  const call = { provider, url: new URL(path, base), headers: { apikey }, fields, signal };
  return postForm(parts, call, ({ status }, body) => {
    if (status === 401 || status === 403) {
      return retry(`${provider} does not accept the key: the administrator must check it`);
    }
    if (status === 400) return refused(`${provider} refuses the ${what} as malformed`);
    const isRead = (status === 200 || status === 201) && body !== undefined;
    return isRead ? read(body) : nonsense(provider);
  });
}
