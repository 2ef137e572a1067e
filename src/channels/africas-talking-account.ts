import type { HttpAnswer, HttpClient } from './http-exchange.ts';
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

/** Sends one form; the key travels in its own header. */
export function postToAfricasTalking(
  parts: { readonly settings: AfricasTalkingSettings; readonly http: HttpClient },
  path: string,
  form: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<HttpAnswer> {
  const { username, apiKey, base } = parts.settings;
  return parts.http.call({
    method: 'POST',
    url: new URL(path, base),
    headers: {
      apikey: apiKey,
      'content-type': 'application/x-www-form-urlencoded',
      accept: 'application/json',
    },
    body: new URLSearchParams({ username, ...form }).toString(),
    signal,
  });
}
