import { connect, type Socket } from 'node:net';
import { createManualClock } from '../manual-clock.ts';
import { type Service, startService } from '../service.ts';
import { type Conversation, conversation } from './fast-path-requests.ts';
import { createRandom, type Random } from './random.ts';

export interface DifferentialOptions {
  /** The same seed sends the same bytes. */
  readonly seed: number;
  readonly connections: number;
  readonly print?: (line: string) => void;
}

/** What both ways did otherwise, or nothing. */
export interface Difference {
  readonly sent: string;
  readonly short: string;
  readonly ordinary: string;
}

const lanes = 16;
const differencesMax = 5;
const patienceMs = 120_000;
/** Who waits for more is told that there is none, when nothing came in so many looks. */
const silentLooks = 40;
/** A process that is held up for long looks once meanwhile: the services are in it too. */
const lookMs = 100;
const timeouts = {
  handshakeMs: patienceMs,
  headersMs: patienceMs,
  requestMs: patienceMs,
  keepAliveMs: patienceMs,
  unreadMs: patienceMs,
  drainMs: patienceMs,
};
const startedAt = Date.parse('2026-03-01T00:00:00.000Z');

/**
 * Sends the same bytes to a service with the fast path and to one without it, with their clocks
 * standing still, and compares what comes back, what was stored and how the connections end.
 */
export async function compareWays(options: DifferentialOptions): Promise<readonly Difference[]> {
  await using short = await openSide('on');
  await using ordinary = await openSide('off');
  const differences: Difference[] = [];
  let left = options.connections;
  await Promise.all(
    Array.from({ length: lanes }, async (_, lane) => {
      const random = createRandom(options.seed + 1_000_003 * lane);
      while (left > 0 && differences.length < differencesMax) {
        left -= 1;
        const found = await compareOnce(random, `d${lane}`, short, ordinary);
        if (found !== undefined) {
          differences.push(found);
          // What is stored is not the same from now on.
          return;
        }
        if (left % 1_000 === 0) options.print?.(`${left} connections are left`);
      }
    }),
  );
  return differences;
}

interface OpenSide extends AsyncDisposable {
  readonly service: Service;
  readonly token: string;
}

async function openSide(fastPath: 'on' | 'off'): Promise<OpenSide> {
  const service = await startService({
    clock: createManualClock(startedAt),
    environment: { KIPIMO_SHORT_WAY: fastPath },
    timeouts,
  });
  const token = await service.tokenOf('ama');
  const sensors = [{ id: 's' }, { id: 't', unit: '°C' }];
  for (const lane of [...Array(lanes).keys(), '-still']) {
    await service.as('ama')({
      ...{ method: 'POST', path: '/devices' },
      json: { id: `d${lane}`, name: Number(lane) % 2 === 0 ? 'Küche' : 'roof', sensors },
    });
  }
  await service.as('kofi')({
    ...{ method: 'POST', path: '/devices' },
    json: { id: 'secret', visibility: 'private', sensors },
  });
  return { service, token, [Symbol.asyncDispose]: () => service[Symbol.asyncDispose]() };
}

async function compareOnce(
  random: Random,
  device: string,
  short: OpenSide,
  ordinary: OpenSide,
): Promise<Difference | undefined> {
  // Tokens are as long as each other: only their letters differ.
  const token = placeholderFor(short.token);
  const said = conversation(random, { device, still: 'd-still', token });
  const [one, other] = await Promise.all(
    [short, ordinary].map(async (side) => {
      const heard = await talk(side, said);
      // What was taken for a body may hold a token, and is stored with it.
      const all = `${heard}\nstored: ${await storedOf(side, device)}`;
      return masked(all, side.token);
    }),
  );
  if (one === other) return undefined;
  const sent = said.pieces.map((piece) => JSON.stringify(piece.toString('latin1'))).join('\n');
  return { sent, short: one ?? '', ordinary: other ?? '' };
}

const placeholderFor = (token: string): string => '#'.repeat(token.length);

/**
 * Without the letters of the token, also where a body that was stored ends within it; and without
 * the tags of what is read with them, which differ as the tokens do.
 */
function masked(text: string, token: string): string {
  const hidden = text.replaceAll(/(bearer +)([\w-]+)/gi, (_, scheme: string, letters: string) => {
    let same = 0;
    while (same < letters.length && letters[same] === token[same]) same += 1;
    return scheme + '#'.repeat(same) + letters.slice(same);
  });
  return hidden === text ? text : hidden.replaceAll(/etag: W\/"[^"]*"/g, 'etag: of a token');
}

/** All that is answered until the connection ends, without the date. */
async function talk(
  { service, token }: OpenSide,
  { pieces, isEnded }: Conversation,
): Promise<string> {
  const { hostname: host, port } = new URL(service.url);
  const socket = connect({ host, port: Number(port), noDelay: true, allowHalfOpen: true });
  let answers = '';
  let silence = 0;
  socket.on('data', (chunk: Buffer) => {
    answers += chunk.toString('latin1');
    silence = 0;
  });
  const ended = new Promise<void>((resolve) => {
    socket.on('error', () => undefined);
    for (const event of ['end', 'close']) socket.once(event, () => resolve());
  });
  const whole = Buffer.concat(pieces).toString('latin1');
  const marks = new RegExp(`#{${token.length - 1}}[#_]`, 'g');
  const filled = Buffer.from(
    whole.replaceAll(marks, (mark) => fill(mark, token)),
    'latin1',
  );
  let at = 0;
  for (const { length } of pieces) {
    if (!(await sent(socket, filled.subarray(at, at + length)))) break;
    at += length;
  }
  const look = setInterval(() => {
    silence += 1;
    if (isEnded || silence >= silentLooks) socket.end();
  }, lookMs);
  if (isEnded) socket.end();
  await ended;
  clearInterval(look);
  socket.destroy();
  return answers.replaceAll(answerHead, inOneOrder);
}

/** Which is the token, or one that is wrong at its end. */
const fill = (mark: string, token: string): string =>
  mark.endsWith('_') ? `${token.slice(0, -1)}_` : token;

/** Waits until the other side may have read the piece; false: it does not listen any more. */
async function sent(socket: Socket, piece: Buffer): Promise<boolean> {
  if (!socket.writable) return false;
  const isWritten = await new Promise<boolean>((resolve) => {
    socket.write(piece, (error) => resolve(error === null || error === undefined));
  });
  await new Promise((resolve) => setImmediate(resolve));
  return isWritten;
}

const answerHead = /HTTP\/1\.1 \d{3} [^\r\n]*\r\n(?:[^\r\n]+\r\n)*\r\n/g;

function inOneOrder(head: string): string {
  const [status, ...fields] = head.trimEnd().split('\r\n');
  const kept = fields.filter(
    (field) => !/^Date: \w{3}, \d\d \w{3} \d{4} [\d:]{8} GMT$/.test(field),
  );
  const dates = fields.length - kept.length;
  return `${[status, `${dates} dates`, ...kept.toSorted()].join('\r\n')}\r\n\r\n`;
}

async function storedOf({ service }: OpenSide, device: string): Promise<string> {
  const paths = ['', '/sensors/s/values?lastN=100', '/sensors/t/values?lastN=100'];
  const replies = await Promise.all(
    paths.map((path) => service.as('ama')({ path: `/devices/${device}${path}` })),
  );
  return replies.map(({ status, text }) => `${status} ${text}`).join('\n');
}
