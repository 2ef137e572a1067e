import type { Outcome } from '../domain/notifications/channel.ts';
import { type HttpClient, jsonObjectOf } from './http-exchange.ts';
import { nonsense, notReached, pauseOf, refused, retry } from './outcome.ts';
import { baseOf, needed, readProviderUrl } from './provider-url.ts';

/** An account at Africa's Talking, and what it sends from. */
export interface AfricasTalkingSettings {
  readonly provider: 'africastalking';
  readonly username: string;
  readonly apiKey: string;
  /** A short code, number or name; absent: the account's default. */
  readonly from?: string;
  readonly base: URL;
}

/** Reads africastalking://…; throws ProviderUrlError. */
export function readAfricasTalking(
  text: string,
  options: { readonly host: string; readonly example: string },
): AfricasTalkingSettings {
  const { host, example } = options;
  const url = readProviderUrl(text, ['from', 'base']);
  const { from } = url.parameters;
  return {
    provider: 'africastalking',
    username: needed(url.username, 'the username before the @', example),
    apiKey: needed(url.password, 'the API key before the @', example),
    ...(from !== undefined && { from }),
    base: baseOf(url, host),
  };
}

/** Parts that every request to Africa's Talking needs. */
export interface AfricasTalkingParts {
  readonly settings: AfricasTalkingSettings;
  readonly http: HttpClient;
  readonly now: () => number;
}

/** A form for a resource of the API. */
export interface AfricasTalkingForm {
  readonly path: string;
  /** The thing that the form asks for, as its refusal names it. */
  readonly what: 'message' | 'call';
  readonly fields: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
}

/**
 * Sends a form; the key travels in its own header. `read` says what the object means that answers
 * one that was understood.
 */
export async function askAfricasTalking(
  { settings, http, now }: AfricasTalkingParts,
  { path, what, fields, signal }: AfricasTalkingForm,
  read: (body: Readonly<Record<string, unknown>>) => Outcome,
): Promise<Outcome> {
  const { username, apiKey, base } = settings;
  const answer = await http.call({
    method: 'POST',
    url: new URL(path, base),
    headers: {
      apikey: apiKey,
      'content-type': 'application/x-www-form-urlencoded',
      accept: 'application/json',
    },
    body: new URLSearchParams({ username, ...fields }).toString(),
    signal,
  });
  if (answer.kind !== 'answer') return notReached(answer, "Africa's Talking");
  const { status, retryAfter } = answer;
  if (status === 429) {
    return retry("Africa's Talking asks to slow down", pauseOf(retryAfter, now()));
  }
  if (status >= 500) {
    return retry("Africa's Talking has a fault of its own", pauseOf(retryAfter, now()));
  }
  if (status === 401 || status === 403) {
    return retry("Africa's Talking does not accept the key: the administrator must check it");
  }
  if (status === 400) return refused(`Africa's Talking refuses the ${what} as malformed`);
  const body = status === 200 || status === 201 ? jsonObjectOf(answer.text) : undefined;
  return body === undefined ? nonsense("Africa's Talking") : read(body);
}
