import { connect as connectPlain, isIP, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { Pdu, Session } from 'smpp';
import { channelLimits } from '../limits.ts';
import type { SmppSettings } from '../provider-settings.ts';

/** The answer to a command, or why there is none. */
export type SmppAnswer =
  | { readonly kind: 'answer'; readonly status: number }
  | { readonly kind: 'unbound'; readonly status: number }
  | { readonly kind: 'silence' }
  | { readonly kind: 'unreachable'; readonly code: string };

interface BoundSession {
  ask(command: 'submit_sm' | 'enquire_link', fields: object): Promise<SmppAnswer>;
  end(): void;
  readonly isOpen: () => boolean;
}

type SmppPackage = Pick<typeof import('smpp'), 'Session'>;

/** Makes the link; nothing is connected before the first message. */
export function createSmppLink(parts: {
  readonly smpp: SmppPackage;
  readonly settings: SmppSettings;
  readonly responseMs?: number;
  readonly enquireMs?: number;
}) {
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

/** A link with one bound session at a time, opened when needed and again after it broke. */

interface Opening {
  readonly smpp: SmppPackage;
  readonly settings: SmppSettings;
  readonly responseMs: number;
  readonly enquireMs: number;
  /** Ends the opening, whatever it waits for. */
  readonly signal: AbortSignal;
}

async function openSession(parts: Opening): Promise<BoundSession | SmppAnswer> {
  const { smpp, settings, responseMs, enquireMs, signal } = parts;
  const opened = await openSocket(settings, signal);
  if (!('socket' in opened)) return opened;
  const session = new smpp.Session({ socket: opened.socket });
  const wire = createWire({ session, socket: opened.socket, responseMs });
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
    return { kind: 'unbound', status: answer.status };
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
function createWire(parts: {
  readonly session: Session;
  readonly socket: Socket;
  readonly responseMs: number;
}) {
  const { session, socket, responseMs } = parts;
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
