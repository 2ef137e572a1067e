import { createHmac, timingSafeEqual } from 'node:crypto';
import type { CallTextStore, Channel, Outcome } from '../../domain/notifications/channel.ts';
import { isRecord } from '../../lib/record.ts';
import { channelLimits } from '../limits.ts';
import { nonsense, refused, retry, sanitized, sent } from '../outcome.ts';
import { askAfricasTalking, type ProviderParts, postToTwilio } from '../provider-accounts.ts';
import type { AfricasTalkingSettings, TwilioSettings } from '../provider-settings.ts';

const escapes: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
};

/** The text inside an element <Say>: escaped, without signs XML cannot hold, never cut in two. */
export function spoken(text: string, charactersMax: number): string {
  const clean = [...text.toWellFormed().replace(/[\p{Cc}\ufffe\uffff]+/gu, ' ')];
  let out = '';
  for (const letter of clean.slice(0, channelLimits.voiceCharactersMax)) {
    const written = escapes[letter] ?? letter;
    if (out.length + written.length > charactersMax) break;
    out += written;
  }
  return out;
}

/** Calls by Twilio: POST …/Calls.json with To, From and what to say; it is said twice. */
export function createTwilioVoice(parts: ProviderParts<TwilioSettings>): Channel {
  const { from, language } = parts.settings;
  const attribute = language === undefined ? '' : ` language="${language}"`;
  const start = `<Response><Say loop="2"${attribute}>`;
  const end = '</Say></Response>';
  const room = channelLimits.twimlCharactersMax - start.length - end.length;
  return {
    async send({ to: { phone }, text }, signal) {
      if (phone === undefined) return refused('the profile has no phone number');
      const twiml = `${start}${spoken(text, room)}${end}`;
      return postToTwilio(parts, 'Calls', { To: phone, From: from, Twiml: twiml }, signal);
    },
  };
}

/**
 * Answers Africa's Talking when a call is picked up: the call's own id in, what to do out. The
 * answer for a call that is not ours, or was made too long ago, hangs up.
 */
export type AnswerCall = (callId: string) => Promise<string>;
const hangUp = '<Response><Reject/></Response>';
/** The call is ours, and its text is no longer kept: better than silence. */
const forgotten =
  '<Response><Say>You have a message of your sensors. Please read it online.</Say></Response>';

/**
 * Calls by Africa's Talking. POST /call only lets the phone ring; once answered, their server asks
 * the callback address of the number what to say, so the text is kept until then.
 */
export function createAfricasTalkingVoice(
  parts: ProviderParts<AfricasTalkingSettings> & {
    readonly installationSecret: string;
    readonly callTexts: CallTextStore;
  },
): Channel & { readonly answerCall: AnswerCall } {
  const { settings, now, installationSecret, callTexts } = parts;
  const { from = '' } = settings;

  return {
    async send(message, signal) {
      const { phone } = message.to;
      if (phone === undefined) return refused('the profile has no phone number');
      const callId = callIdOf(installationSecret, message.deliveryId);
      const text = spoken(message.text, channelLimits.twimlCharactersMax);
      // Before the call: it may be picked up at once, and asked for at another process.
      const until = now() + channelLimits.callMs;
      // On a full disk it rings nevertheless, and says that there is a message.
      await callTexts.put({ callId, text, until }, now()).catch(() => undefined);
      const fields = { from, to: phone, clientRequestId: callId };
      return askAfricasTalking(parts, { path: '/call', what: 'call', fields, signal }, outcomeOf);
    },
    async answerCall(callId) {
      if (!isOurs(installationSecret, callId)) return hangUp;
      const waiting = await callTexts.find(callId);
      if (waiting === undefined) return forgotten;
      if (waiting.until < now()) return hangUp;
      const { text } = waiting;
      return `<Response><Say>${text}</Say><Say>${text}</Say></Response>`;
    },
  };
}

/** An id that cannot be guessed, so that no stranger can listen in; a second try has the same. */
function callIdOf(secret: string, deliveryId: string): string {
  const name = seal(secret, `voice call ${deliveryId}`);
  return `${name}${seal(secret, `ours ${name}`)}`;
}

/** Whether this installation made the id, also before its last restart. */
function isOurs(secret: string, callId: string): boolean {
  const name = callId.slice(0, sealCharacters);
  const given = Buffer.from(callId.slice(sealCharacters));
  const wanted = Buffer.from(seal(secret, `ours ${name}`));
  return given.length === wanted.length && timingSafeEqual(given, wanted);
}

const sealCharacters = 40;

function seal(secret: string, text: string): string {
  return createHmac('sha256', secret).update(text).digest('hex').slice(0, sealCharacters);
}

function outcomeOf(body: Readonly<Record<string, unknown>>): Outcome {
  const entries = body['entries'];
  const first: unknown = Array.isArray(entries) ? entries[0] : undefined;
  const state = isRecord(first) ? first['status'] : undefined;
  if (state === 'Queued') return sent;
  const words = typeof state === 'string' ? state : body['errorMessage'];
  return typeof words === 'string' ? refusalOf(words) : nonsense("Africa's Talking");
}

/** The states of an entry; those of the caller's side can be mended by the operator. */
function refusalOf(words: string): Outcome {
  const reason = `Africa's Talking: ${sanitized(words)}`;
  return /^(InvalidPhoneNumber|DestinationNotSupported)$/.test(words)
    ? refused(reason)
    : retry(reason);
}
