import { randomInt } from 'node:crypto';
import { connect as connectPlain, isIP, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { Pdu, Session } from 'smpp';
import type { Channel, Outcome } from '../../domain/notifications/channel.ts';
import { createLruCache } from '../../lib/cache.ts';
import { createSemaphore } from '../../lib/scheduling/payer-queues.ts';
import { channelLimits } from '../limits.ts';
import { refused, retry } from '../outcome.ts';
import type { SmppSettings } from '../provider-settings.ts';
import { cutToParts, partsOf } from './sms-text.ts';

interface SmppParts {
  readonly settings: SmppSettings;
  readonly responseMs?: number;
  readonly enquireMs?: number;
}

/** Text messages to an operator's message centre by SMPP 3.4. */
export async function createSmppSms(parts: SmppParts): Promise<Channel & { close(): void }> {
  const { settings } = parts;
  // The package is CommonJS: what it exports is the default.
  const { default: smpp } = await import('smpp');
  const link = createSmppLink({ ...parts, smpp });
  const places = createSemaphore({
    parallelMax: channelLimits.smppWindowMax,
    waitingMax: channelLimits.waitingMax,
  });
  const progress = createLruCache<string, { readonly done: number; readonly reference: number }>(
    channelLimits.waitingMax,
  );
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
    data_coding: alphabet === 'gsm' ? 0 : 8,
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

/** Type of number: 1 international, 3 of the network (a short code), 5 a name. */
function sourceOf(from: string): Fields {
  if (!/^\+?\d+$/.test(from)) return { source_addr_ton: 5, source_addr_npi: 0, source_addr: from };
  const ton = /^\d{1,8}$/.test(from) ? 3 : 1;
  return { source_addr_ton: ton, source_addr_npi: 1, source_addr: from.replace('+', '') };
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

/** The answer to a command, or why there is none. */
type SmppAnswer =
  | { readonly kind: 'answer'; readonly status: number }
  | { readonly kind: 'unbound' | 'silence' }
  | { readonly kind: 'unreachable'; readonly code: string };

interface BoundSession {
  ask(command: 'submit_sm' | 'enquire_link', fields: object): Promise<SmppAnswer>;
  end(): void;
  readonly isOpen: () => boolean;
}

type SmppPackage = Pick<typeof import('smpp'), 'Session'>;

/** A link with one bound session at a time, opened for a message, and again after it broke. */
function createSmppLink(parts: SmppParts & { readonly smpp: SmppPackage }) {
  const { responseMs = channelLimits.smppResponseMs } = parts;
  const { enquireMs = channelLimits.smppEnquireMs } = parts;
  let opening: Promise<BoundSession | SmppAnswer> | undefined;
  let current: BoundSession | undefined;
  const closing = new AbortController();
  const { signal } = closing;

  // Callers that come while the session is being bound wait for the same one.
  function bound(): Promise<BoundSession | SmppAnswer> {
    if (current?.isOpen() === true) return Promise.resolve(current);
    opening ??= open().finally(() => {
      opening = undefined;
    });
    return opening;
  }

  async function open(): Promise<BoundSession | SmppAnswer> {
    const opened = await openSession({ ...parts, responseMs, enquireMs, signal });
    if ('ask' in opened) current = opened;
    if (signal.aborted) current?.end();
    return opened;
  }

  return {
    async submit(fields: Readonly<Record<string, unknown>>): Promise<SmppAnswer> {
      if (signal.aborted) return { kind: 'silence' };
      const session = await bound();
      return 'ask' in session ? session.ask('submit_sm', fields) : session;
    },
    close(): void {
      closing.abort();
      current?.end();
    },
  };
}

interface Opening extends Required<SmppParts> {
  readonly smpp: SmppPackage;
  /** Ends the opening, whatever it waits for. */
  readonly signal: AbortSignal;
}

async function openSession(parts: Opening): Promise<BoundSession | SmppAnswer> {
  const { smpp, settings, responseMs, enquireMs, signal } = parts;
  const opened = await openSocket(settings, signal);
  if (!('socket' in opened)) return opened;
  const session = new smpp.Session({ socket: opened.socket });
  const wire = createWire(session, opened.socket, responseMs);
  const stop = () => session.destroy();
  signal.addEventListener('abort', stop, { once: true });
  const answer = await wire.ask((answered) =>
    session.bind_transmitter(
      {
        system_id: settings.systemId,
        password: settings.password,
        system_type: settings.systemType,
        interface_version: 0x34,
      },
      answered,
    ),
  );
  signal.removeEventListener('abort', stop);
  if (answer.kind !== 'answer') return answer;
  if (answer.status !== 0) {
    session.destroy();
    return { kind: 'unbound' };
  }
  const timer = setInterval(() => {
    void wire.ask((answered) => session.enquire_link({}, answered));
  }, enquireMs);
  timer.unref();
  session.on('close', () => clearInterval(timer));
  return {
    isOpen: wire.isOpen,
    ask: (command, fields) => wire.ask((answered) => session[command]({ ...fields }, answered)),
    end() {
      clearInterval(timer);
      session.unbind();
      session.close();
      // The other side may leave its half open for ever; the process must end all the same.
      setTimeout(() => session.destroy(), channelLimits.smppUnbindMs).unref();
    },
  };
}

type Opened = { readonly socket: Socket } | SmppAnswer;

function openSocket({ host, port, isTls }: SmppSettings, signal: AbortSignal): Promise<Opened> {
  return new Promise((resolve) => {
    const socket = isTls
      ? connectTls({ host, port, ...(isIP(host) === 0 && { servername: host }) })
      : connectPlain({ host, port });
    const give = (result: Opened) => {
      clearTimeout(timer);
      signal.removeEventListener('abort', stop);
      socket.off('error', onError);
      resolve(result);
    };
    const onError = (error: NodeJS.ErrnoException) => {
      give({ kind: 'unreachable', code: error.code ?? error.name });
    };
    const stop = () => {
      socket.on('error', () => undefined);
      give({ kind: 'silence' });
      socket.destroy();
    };
    const timer = setTimeout(stop, channelLimits.smppConnectMs);
    signal.addEventListener('abort', stop, { once: true });
    if (signal.aborted) stop();
    socket.on('error', onError);
    socket.once(isTls ? 'secureConnect' : 'connect', () => give({ socket }));
  });
}

/** Commands a message centre may send a transmitter; without an answer the package throws. */
const answered: ReadonlySet<string> = new Set(['enquire_link', 'unbind', 'deliver_sm', 'data_sm']);

/** Asks and answers on one session; one unanswered question ends it, for order is lost then. */
function createWire(session: Session, socket: Socket, responseMs: number) {
  const waiting = new Set<(answer: SmppAnswer) => void>();
  let isOpen = true;
  let strayAnswers = 0;

  function breakOff(answer: SmppAnswer): void {
    isOpen = false;
    session.destroy();
    for (const settle of [...waiting]) settle(answer);
  }
  session.on('error', () => breakOff({ kind: 'unreachable', code: 'protocol' }));
  session.on('close', () => breakOff({ kind: 'unreachable', code: 'closed' }));
  session.on('pdu', (pdu: Pdu) => {
    if (pdu.isResponse()) strayAnswers += 1;
    else if (answered.has(pdu.command)) session.send(pdu.response());
    // Answers to nothing, or questions without end: not a message centre, and not to be kept.
    const isFlood =
      strayAnswers > channelLimits.smppStraysMax ||
      socket.writableLength > channelLimits.answerBytesMax;
    if (isFlood) breakOff({ kind: 'unreachable', code: 'protocol' });
    if (pdu.command === 'unbind') breakOff({ kind: 'unreachable', code: 'unbound' });
  });

  return {
    isOpen: () => isOpen,
    ask(put: (answered: (answer: Pdu) => void) => boolean): Promise<SmppAnswer> {
      return new Promise((resolve) => {
        const settle = (answer: SmppAnswer) => {
          clearTimeout(timer);
          waiting.delete(settle);
          resolve(answer);
        };
        const timer = setTimeout(() => breakOff({ kind: 'silence' }), responseMs);
        waiting.add(settle);
        const settleBy = (pdu: Pdu) => {
          strayAnswers -= 1;
          settle({ kind: 'answer', status: pdu.command_status });
        };
        const isSent = isOpen && put(settleBy);
        if (!isSent) settle({ kind: 'unreachable', code: 'closed' });
      });
    },
  };
}
