import { randomInt } from 'node:crypto';
import type { Channel, Outcome } from '../../domain/notifications/channel.ts';
import { createLruCache } from '../../lib/lru-cache.ts';
import { createSemaphore } from '../../lib/scheduling/semaphore.ts';
import { channelLimits } from '../limits.ts';
import { refused, retry } from '../outcome.ts';
import type { SmppSettings } from '../provider-settings.ts';
import { createSmppLink, type SmppAnswer } from './smpp-link.ts';
import { type Alphabet, cutToParts, partsOf } from './sms-text.ts';

/** Text messages to an operator's message centre by SMPP 3.4. */
export async function createSmppSms(parts: {
  readonly settings: SmppSettings;
  readonly responseMs?: number;
  readonly enquireMs?: number;
}): Promise<Channel & { close(): void }> {
  const { settings } = parts;
  // The package is CommonJS: what it exports is the default.
  const { default: smpp } = await import('smpp');
  const link = createSmppLink({ ...parts, smpp });
  const places = createSemaphore({
    parallelMax: channelLimits.smppWindowMax,
    waitingMax: channelLimits.waitingMax,
  });
  const progress = createLruCache<string, Progress>(channelLimits.waitingMax);
  let reference = randomInt(256);

  return {
    async send(message) {
      const { phone } = message.to;
      if (phone === undefined) return refused('the profile has no phone number');
      const text = cutToParts(message.text);
      const known = progress.get(message.deliveryId);
      reference = (reference + 1) % 256;
      const start = known ?? { done: 0, reference };
      const submits = submitsOf({ settings, phone, text, reference: start.reference });
      for (let at = start.done; at < submits.length; at += 1) {
        const fields = submits[at] ?? {};
        const outcome = outcomeOf(await places.run('', () => link.submit(fields)));
        if (outcome.kind !== 'sent') {
          // The next try goes on here: the parts before are with the message centre.
          progress.set(message.deliveryId, { done: at, reference: start.reference });
          return outcome;
        }
      }
      progress.delete(message.deliveryId);
      return { kind: 'sent' };
    },
    close: () => link.close(),
  };
}

interface Progress {
  readonly done: number;
  readonly reference: number;
}

type Fields = Readonly<Record<string, unknown>>;

/** Makes a submit_sm per part [SMPP 3.4, 4.4.1], or one with all the text as message_payload. */
function submitsOf(parts: {
  readonly settings: SmppSettings;
  readonly phone: string;
  readonly text: string;
  readonly reference: number;
}): readonly Fields[] {
  const { settings, phone, text, reference } = parts;
  const { alphabet, parts: texts } = partsOf(text);
  const shared = {
    ...sourceOf(settings.from),
    dest_addr_ton: 1,
    dest_addr_npi: 1,
    destination_addr: phone.replace(/^\+/, ''),
    data_coding: codingOf(alphabet),
  };
  if (texts.length === 1) return [{ ...shared, short_message: { message: text } }];
  if (settings.long === 'payload') return [{ ...shared, message_payload: { message: text } }];
  return texts.map((message, index) => ({
    ...shared,
    short_message: {
      // Concatenated message with an 8-bit reference [3GPP TS 23.040, 9.2.3.24.1].
      udh: Buffer.from([5, 0, 3, reference, texts.length, index + 1]),
      message,
    },
  }));
}

const codingOf = (alphabet: Alphabet): number => (alphabet === 'gsm' ? 0 : 8);

/** Type of number: 1 international, 3 of the network (a short code), 5 a name. */
function sourceOf(from: string): Fields {
  if (/^\+\d+$/.test(from)) {
    return { source_addr_ton: 1, source_addr_npi: 1, source_addr: from.slice(1) };
  }
  if (/^\d{1,8}$/.test(from)) {
    return { source_addr_ton: 3, source_addr_npi: 1, source_addr: from };
  }
  return /^\d+$/.test(from)
    ? { source_addr_ton: 1, source_addr_npi: 1, source_addr: from }
    : { source_addr_ton: 5, source_addr_npi: 0, source_addr: from };
}

const throttlePauseMs = 5_000;

/** Statuses of SMPP 3.4, 5.1.3: whose fault it is decides whether a later try helps. */
const statuses: Readonly<Record<number, Outcome>> = {
  0: { kind: 'sent' },
  1: refused('the message centre finds the message too long'),
  10: retry('the message centre does not accept the sender: the administrator must check it'),
  11: refused('the message centre does not accept the phone number'),
  20: retry('the message centre asks to slow down', throttlePauseMs),
  80: refused('the message centre does not accept the phone number'),
  81: refused('the message centre does not accept the phone number'),
  88: retry('the message centre asks to slow down', throttlePauseMs),
  101: refused('the message centre rejects the message for good'),
  102: refused('the message centre rejects the message for good'),
};

function outcomeOf(answer: SmppAnswer): Outcome {
  switch (answer.kind) {
    case 'answer':
      return (
        statuses[answer.status] ??
        retry(`the message centre answers status 0x${answer.status.toString(16)}`)
      );
    case 'unbound':
      return retry('the message centre does not accept the login: the administrator must check it');
    case 'silence':
      return retry('the message centre did not answer in time');
    default:
      return retry(`the message centre could not be reached (${answer.code})`);
  }
}
