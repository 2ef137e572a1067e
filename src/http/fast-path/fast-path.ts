import type { Socket } from 'node:net';
import type { WaitingBudget } from '../../domain/budgets/budget.ts';
import { limits } from '../../domain/limits.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Log } from '../../lib/log.ts';
import type { Answer, TextAnswer } from '../answer.ts';
import {
  commonHeaders,
  emptyAnswerHeaders,
  type ReadOptions,
  readOptionsOf,
  textHeaders,
} from '../answer-headers.ts';
import { type OnRefused, refusalOf, refuseAsUsual } from '../error-handler.ts';
import type { NodeHttp } from '../request-gate.ts';
import { createResponder, type Edge, mayShorten, type Route } from '../route.ts';
import { FastConnection, type FastPathParts, type HotTarget } from './connection.ts';
import { type HotPattern, hotPattern, readHotRequest } from './reader.ts';

/** The path of plain requests of hot routes from the socket to their handlers [decision 0015]. */
export type FastPath = ReturnType<typeof createFastPath>;

export interface FastPathOptions extends Edge {
  /** Routes below a prefix; those that are not hot are left out. */
  readonly mounted: readonly {
    readonly prefix: string;
    readonly routes: readonly Route[];
  }[];
  readonly waiting: WaitingBudget;
  readonly timeouts: {
    readonly requestMs: number;
    readonly keepAliveMs: number;
    /** How long node waits beyond the time that it announces to clients. */
    readonly keepAliveBufferMs: number;
    readonly checkMs: number;
  };
  readonly clock: Clock;
  readonly onRefused: OnRefused;
  readonly log: Log;
}

/** Opens the fast path before `node`, which gets all that is not exactly a hot request. */
export function createFastPath(options: FastPathOptions, node: NodeHttp) {
  const { room, waiting, clients, turns, timeouts } = options;
  const writer = createAnswerWriter(timeouts.keepAliveMs, options.clock);
  const lines = hotLinesOf(options, writer);
  const parts: FastPathParts = {
    ...{ node, lines, room, waiting, clients, turns },
    requestMs: timeouts.requestMs,
    idleMs: timeouts.keepAliveMs + timeouts.keepAliveBufferMs,
    isClosing: false,
    open: new Set(),
  };
  const sweep = setInterval(() => {
    const now = performance.now();
    for (const connection of parts.open) connection.sweep(now);
  }, timeouts.checkMs);
  sweep.unref();
  return {
    /** Takes a connection that begins with a hot request, with its first bytes; else false. */
    take(socket: Socket, first: Buffer): boolean {
      if (readHotRequest(first, 0, lines, undefined) === undefined) return false;
      new FastConnection(parts, socket).receive(first);
      return true;
    },
    /** Ends connections as soon as nothing is under way on them. */
    close(): void {
      parts.isClosing = true;
      clearInterval(sweep);
      for (const connection of parts.open) connection.close();
    },
  };
}

function hotLinesOf(
  { mounted, ...options }: FastPathOptions,
  writer: AnswerWriter,
): readonly HotPattern<HotTarget>[] {
  return mounted.flatMap(({ prefix, routes }) =>
    routes
      .filter(({ isHot }) => isHot === true)
      .map((route) => {
        const path = prefix + route.path;
        if (route.method !== 'GET' && route.method !== 'POST') throw new Error(`${path} is hot`);
        return hotPattern(route.method, path, hotTarget(route, path, options, writer));
      }),
  );
}

/** Serves a route as `mountRoute` does, without Fastify. */
function hotTarget(
  route: Route,
  label: string,
  options: Omit<FastPathOptions, 'mounted'>,
  writer: AnswerWriter,
): HotTarget {
  const { compressor, reporter } = options;
  const respond = createResponder(route, options);
  const { method } = route;
  const isShortened = mayShorten(route);
  const refusal = { ...options, refuse: refuseAsUsual };
  const routeOptions = { url: label };
  return {
    async answer(call, done) {
      const startedAt = performance.now();
      let text: string | undefined;
      try {
        const answer = await respond(call);
        const read = isShortened ? readOptionsOf(call.headers, method, compressor) : undefined;
        const written = writer.answer(answer, read);
        if (written !== undefined) {
          const durationMs = performance.now() - startedAt;
          reporter.requestAnswered({ method, route: label, status: written.status, durationMs });
        } else if (method !== 'GET') throw new Error(`${label} answers what the fast path cannot`);
        text = written?.bytes;
      } catch (error) {
        // A refusal that is known at once waits, too: requests behind it count as waiting.
        await undefined;
        const durationMs = performance.now() - startedAt;
        const { params, url, headers, body, raw } = call;
        const asked = { params, url, headers, body, raw };
        const refused = { ...{ method, is404: false, routeOptions }, ...asked };
        text = writer.refusal(refusalOf(error, refused, durationMs, refusal)).bytes;
      }
      done(text);
    },
  };
}

/** All the bytes of an answer, one character each, with its status. */
export interface Written {
  readonly status: number;
  readonly bytes: string;
}

// An import statement would ask for all that the module has, and load a client of HTTP, HTTP/2 and
// web streams: 14 MB of memory that a server has no use for.
const { STATUS_CODES } = process.getBuiltinModule('node:http');

const secondMs = 1_000;
const commonText = fieldsText(Object.entries(commonHeaders).flat());
type AnswerWriter = ReturnType<typeof createAnswerWriter>;

/** Writes answers with the headers that node:http and Fastify give theirs. */
function createAnswerWriter(keepAliveMs: number, clock: Clock) {
  const seconds = Math.floor(keepAliveMs / secondMs);
  const keepAlive = `Connection: keep-alive\r\nKeep-Alive: timeout=${seconds}\r\n`;
  let second = -1;
  let connectionText = '';
  const empty = new Map<number, { readonly madeIn: number; readonly written: Written }>();

  /** Makes the lines of time and connection, as node:http writes them, anew each second. */
  function now(): number {
    const current = Math.floor(clock.now() / secondMs);
    if (current !== second) {
      second = current;
      connectionText = `Date: ${new Date(current * secondMs).toUTCString()}\r\n${keepAlive}`;
    }
    return second;
  }

  function head(status: number): string {
    now();
    return `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${connectionText}`;
  }

  function emptyAnswer(status: 200 | 204): Written {
    const madeIn = now();
    const known = empty.get(status);
    if (known?.madeIn === madeIn) return known.written;
    const bytes = `${head(status)}${fieldsText(emptyAnswerHeaders[status])}\r\n`;
    const written = { status, bytes };
    empty.set(status, { madeIn, written });
    return written;
  }

  return {
    /** undefined: it is too large, or is found while it is sent. */
    answer(answer: Answer, read: ReadOptions | undefined): Written | undefined {
      if (answer.kind === 'empty' && answer.cookies === undefined) {
        if (answer.headers === undefined) return emptyAnswer(answer.status);
        const { status } = answer;
        const about = [...emptyAnswerHeaders[status], ...Object.entries(answer.headers).flat()];
        return { status, bytes: `${head(status)}${fieldsText(about)}\r\n` };
      }
      if (answer.kind !== 'text' || answer.text.length > limits.freeAnswerBytes) return undefined;
      return { status: 200, bytes: head(200) + restOf(answer, read) };
    },
    refusal({ status, headers, text }: ReturnType<typeof refusalOf>): Written {
      const body = oneCharacterAByte(text);
      const about = Object.entries(headers).flat();
      about.push('content-length', String(body.length));
      return { status, bytes: `${head(status)}${commonText}${fieldsText(about)}\r\n${body}` };
    },
  };
}

// Rests of answers, behind their first lines, with how they were read: by the object that
// represents a text while that is the same one. They go when that does.
const rests = new WeakMap<
  object,
  { readonly contentType: string; readonly isShortened: boolean; readonly text: string }
>();

/** All of an answer but the lines that say the time: of a text that stays the same, made once. */
function restOf(answer: TextAnswer, read: ReadOptions | undefined): string {
  const { contentType, headers, whole } = answer;
  if (whole === undefined || Object.keys(headers).length > 0) return writeRest(answer, read);
  const known = rests.get(whole);
  const isShortened = read !== undefined;
  if (known?.contentType === contentType && known.isShortened === isShortened) return known.text;
  const text = writeRest(answer, read);
  rests.set(whole, { contentType, isShortened, text });
  return text;
}

function writeRest(answer: TextAnswer, read: ReadOptions | undefined): string {
  const { about } = textHeaders(answer, read);
  const body = oneCharacterAByte(answer.text);
  about.push('content-type', answer.contentType, 'content-length', String(body.length));
  return `${fieldsText(about)}\r\n${body}`;
}

/** Writes alternating names and values as header fields. */
function fieldsText(about: readonly string[]): string {
  let text = '';
  for (let at = 0; at < about.length; at += 2) text += `${about[at]}: ${about[at + 1]}\r\n`;
  return text;
}

/** UTF-8 of which each byte is a character: plain ASCII stays as it is. */
function oneCharacterAByte(text: string): string {
  return Buffer.byteLength(text) === text.length ? text : Buffer.from(text).toString('latin1');
}
