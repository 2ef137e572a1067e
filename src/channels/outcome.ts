import type { Outcome } from '../domain/notifications/channel.ts';
import type { HttpAnswer } from './http-exchange.ts';
import { channelLimits } from './limits.ts';

/** The provider has the message. */
export const sent: Outcome = { kind: 'sent' };

/** Not now; `afterMs` is the pause that the provider asks for. */
export function retry(reason: string, afterMs?: number): Outcome {
  return { kind: 'retry', reason, ...(afterMs !== undefined && { afterMs }) };
}

/** Never: trying again would only repeat the answer. */
export const refused = (reason: string): Outcome => ({ kind: 'refused', reason });

/** Retry-After, in seconds or as a date, as a pause within bounds; undefined without sense. */
export function pauseOf(retryAfter: string | undefined, now: number): number | undefined {
  if (retryAfter === undefined) return undefined;
  const text = retryAfter.trim();
  const ms = /^\d{1,9}$/.test(text) ? Number(text) * 1_000 : Date.parse(text) - now;
  return Number.isFinite(ms) ? bounded(ms) : undefined;
}

/** A pause that keeps to the longest we accept. */
export function bounded(ms: number): number {
  return Math.min(Math.max(Math.round(ms), 0), channelLimits.pauseMsMax);
}

/** Without phone numbers, addresses and keys: providers put all of them into their texts. */
export function sanitized(text: string): string {
  return text
    .replace(/\p{C}+/gu, ' ')
    .replace(/\S*@\S+/g, '…')
    .replace(/https?:\/\/\S+/gi, '…')
    .replace(/\b[A-Za-z0-9_-]{24,}\b/g, '…')
    .replace(/\+?\d[\d\s().-]{4,}\d/g, '…')
    .replace(/\s+/g, ' ')
    .trim()
    .slice(0, channelLimits.reasonCharactersMax);
}

/** The outcome of a call that brought no answer. */
export function notReached(
  answer: Exclude<HttpAnswer, { readonly kind: 'answer' }>,
  provider: string,
): Outcome {
  return answer.kind === 'silence'
    ? retry(`${provider} did not answer in time`)
    : retry(`${provider} could not be reached (${sanitized(answer.code)})`);
}

/** The outcome of an answer that the provider's documentation does not know. */
export function nonsense(provider: string): Outcome {
  return retry(`${provider} answered something that makes no sense`);
}
