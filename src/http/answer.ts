import type { ServerResponse } from 'node:http';
import { pipeline } from 'node:stream';
import type { FastifyReply } from 'fastify';
import { DomainError } from '../domain/errors.ts';
import { limits } from '../domain/limits.ts';
import { type LongText, writeLongJson } from '../lib/long-json.ts';
import { stepsPaidBy } from '../lib/paid-work.ts';
import { inOneStep, stepsOf } from '../lib/steps.ts';
import { prefersJson } from './accept.ts';
import { type AnswerBudget, type Chunks, inSlices } from './answer-budget.ts';
import {
  emptyAnswerHeaders,
  isKnownToClient,
  type ReadOptions,
  revalidateHeader,
  textHeaders,
  varyHeader,
} from './answer-headers.ts';
import { type Encoding, isCompressible } from './compression.ts';
import { jsonArray, type NestedMessage, nestedArray, nestedObject } from './json-pieces.ts';

type Headers = Readonly<Record<string, string>>;

export interface EmptyAnswer {
  readonly kind: 'empty';
  readonly status: 200 | 204;
  readonly cookies?: readonly string[];
  readonly headers?: Headers;
}

export interface JsonAnswer<Message> {
  readonly kind: 'json';
  readonly message: Message;
  readonly headers: Headers;
}

export interface BareAnswer {
  readonly kind: 'bare';
  readonly text: string;
  readonly headers: Headers;
  readonly cookies?: readonly string[];
}

/** Text written by hand, for speed or as it is no JSON; tests check it against its schema. */
export interface TextAnswer {
  readonly kind: 'text';
  /** Absent: 200. Only clients of other services expect another one. */
  readonly status?: 202;
  readonly contentType: string;
  readonly text: string;
  readonly headers: Headers;
  /** The same object for the same text: its tag is found once. */
  readonly whole?: object;
}

export interface StreamAnswer {
  readonly kind: 'stream';
  readonly contentType: string;
  readonly chunks: Chunks;
  readonly headers: Headers;
  /** A short text is answered with its length and its tag; a piece of it is a text then. */
  readonly isWholeIfShort?: boolean;
  /** Bytes kept in memory until the end of the answer, beside those that wait to be read. */
  readonly keptBytes?: number;
}

export interface ListAnswer<Element> {
  readonly kind: 'list';
  readonly steps: AsyncIterable<readonly Element[]>;
  readonly headers: Headers;
}

interface NestedAnswer<Message> extends NestedMessage<Message> {
  readonly kind: 'nested';
}

interface NestedListAnswer<Element> {
  readonly kind: 'nested-list';
  readonly elements: AsyncIterable<NestedMessage<Element>>;
  readonly headers: Headers;
}

/** The ways to answer a message. */
export type MessageAnswer<Message> =
  | JsonAnswer<Message>
  | TextAnswer
  | StreamAnswer
  | (Message extends readonly (infer Element)[]
      ? ListAnswer<Element> | NestedListAnswer<Element>
      : Message extends string
        ? BareAnswer
        : NestedAnswer<Message>);

/** The answer of a route; every success of version 2 is 200 or 204 [contract 2]. */
export type Answer =
  | EmptyAnswer
  | JsonAnswer<unknown>
  | BareAnswer
  | TextAnswer
  | StreamAnswer
  | ListAnswer<unknown>
  | NestedAnswer<unknown>
  | NestedListAnswer<unknown>;

export const jsonType = 'application/json; charset=utf-8';
export const textType = 'text/plain; charset=utf-8';
export const csvType = 'text/csv; charset=utf-8';
/** Header of an answer that is for its reader alone, or is outdated in a moment. */
export const unkept = { 'cache-control': 'no-store' };
/** 204 without a body. */
export const done: EmptyAnswer = { kind: 'empty', status: 204 };

export const json = <Message>(message: Message, headers: Headers = {}): JsonAnswer<Message> => ({
  kind: 'json',
  message,
  headers,
});

/** A bare string such as a token: raw text, or a JSON string for clients that ask for JSON. */
export const bare = (
  text: string,
  headers: Headers = {},
  cookies: readonly string[] = [],
): BareAnswer => ({ kind: 'bare', text, headers, cookies });

export const text = (contentType: string, body: string, headers: Headers = {}): TextAnswer => ({
  kind: 'text',
  contentType,
  text: body,
  headers,
});

/** A JSON array that is written while its messages are found. */
export const list = <Element>(
  steps: AsyncIterable<readonly Element[]>,
  headers: Headers = {},
): ListAnswer<Element> => ({ kind: 'list', steps, headers });

export const stream = (
  contentType: string,
  chunks: Chunks,
  headers: Headers = {},
): StreamAnswer => ({ kind: 'stream', contentType, chunks, headers });

/** Text that is written while it is read; a short one is answered as a whole, with its length. */
export const written = (
  contentType: string,
  chunks: AsyncIterable<string>,
  headers: Headers = {},
): StreamAnswer => ({ kind: 'stream', contentType, chunks, headers, isWholeIfShort: true });

export interface SendOptions {
  /** Charges the payer for bytes that the client does not read. */
  readonly room: AnswerBudget;
  /** The answer may be compressed, and one that the client has is not sent again. */
  readonly read?: ReadOptions | undefined;
}

/**
 * Sends the answer and says its status: once that is known, for one whose beginning is read first.
 * A stream is read only as fast as the client takes it. Throws rate_limited when its payer has too
 * much that waits to be read.
 */
export function send(
  answer: Answer,
  accept: string | undefined,
  reply: FastifyReply,
  options: SendOptions,
): number | { readonly whole: Promise<number> } {
  if ('cookies' in answer && answer.cookies.length > 0) {
    // Written by writeHead with what else it is given.
    reply.raw.setHeader('set-cookie', answer.cookies);
  }
  switch (answer.kind) {
    case 'empty':
      return sendEmpty(answer, reply);
    case 'json':
      return sendJson(reply, answer, options);
    case 'bare':
      return prefersJson(accept)
        ? sendText(reply, jsonType, JSON.stringify(answer.text), answer.headers, options)
        : sendText(reply, textType, answer.text, answer.headers, options);
    case 'text':
      return sendText(reply, answer.contentType, answer.text, answer.headers, {
        ...options,
        whole: answer.whole,
        status: answer.status,
      });
    case 'list':
      return sendStream(reply, jsonType, jsonArray(answer.steps), answer.headers, options);
    case 'nested':
      return sendStream(reply, jsonType, nestedObject(answer), {}, options);
    case 'nested-list':
      return sendStream(reply, jsonType, nestedArray(answer.elements), answer.headers, options);
    case 'stream':
      if (answer.isWholeIfShort === true) return { whole: sendWritten(reply, answer, options) };
      options.room.hold(reply.raw, limits.answerWindowBytes + (answer.keptBytes ?? 0));
      return sendStream(reply, answer.contentType, answer.chunks, answer.headers, options);
  }
}

function sendJson(
  reply: FastifyReply,
  { message, headers }: JsonAnswer<unknown>,
  options: SendOptions,
): number {
  const text = writeLongJson(message);
  if (typeof text === 'string') return sendText(reply, jsonType, text, headers, options);
  return sendStream(reply, jsonType, inOneStep(text), headers, options);
}

function sendStream(
  reply: FastifyReply,
  contentType: string,
  chunks: Chunks,
  headers: Headers,
  { room, read }: SendOptions,
): number {
  reply.headers(headers).header('content-type', contentType);
  if (read !== undefined) {
    reply.header(...varyHeader);
    if (headers['cache-control'] === undefined) reply.header(...revalidateHeader);
  }
  if (read?.encoding !== undefined && !read.isHead && isCompressible(contentType)) {
    sendCompressed(reply, chunks, { ...read, encoding: read.encoding, room }).catch((error) =>
      reply.send(error),
    );
  } else {
    reply.send(room.stream(reply.raw, chunks));
  }
  return 200;
}

/** Compresses a stream, unless it ends before that is worth the while. */
async function sendCompressed(
  reply: FastifyReply,
  chunks: Chunks,
  options: ReadOptions & { readonly encoding: Encoding; readonly room: AnswerBudget },
): Promise<void> {
  const { encoding, compressor, room } = options;
  const source = readUntilClose(reply.raw, chunks, room);
  const first: (string | Uint8Array | LongText)[] = [];
  let bytes = 0;
  let isWhole = false;
  while (!isWhole && bytes < limits.compressedBytesMin) {
    const step = await source.next();
    isWhole = step.done === true;
    if (step.done !== true) {
      first.push(step.value);
      bytes += step.value.length;
    }
  }
  const all = startingWith(first, source);
  const compressed = isWhole ? undefined : compressor.stream(inSlices(all), encoding);
  if (compressed !== undefined) reply.header('content-encoding', encoding);
  try {
    reply.send(room.stream(reply.raw, compressed ?? all));
  } catch (error) {
    compressed?.destroy();
    throw error;
  }
}

/** Reads chunks by hand; whatever becomes of the answer, at its end they are let go of. */
function readUntilClose<Item>(
  answer: ServerResponse,
  chunks: AsyncIterable<Item>,
  room: AnswerBudget,
): AsyncIterator<Item> {
  // The `close` of the answer was emitted: nothing would let go of the chunks.
  if (answer.req.socket.destroyed) throw new DomainError('unavailable', 'nobody is there to read');
  const source = stepsPaidBy(room.payerOf(answer.req), chunks);
  answer.once('close', () => void source.return?.());
  return source;
}

/** Takes `first` out of its array, so that nothing keeps it while the rest waits to be read. */
const startingWith = <Item>(first: Item[], rest: AsyncIterator<Item>): AsyncIterable<Item> =>
  stepsOf(async () => {
    if (first.length > 0) return first.shift();
    const { done, value } = await rest.next();
    return done === true ? undefined : value;
  });

/** Characters buffered until it is known whether an answer is short. */
const wholeCharactersMax = 524_288;

async function sendWritten(
  reply: FastifyReply,
  { contentType, chunks, headers }: StreamAnswer,
  options: SendOptions,
): Promise<number> {
  const pieces = readUntilClose(reply.raw, chunks, options.room);
  let head = '';
  while (head.length < wholeCharactersMax) {
    const { done, value } = await pieces.next();
    if (done === true) return sendText(reply, contentType, head, headers, options);
    if (typeof value !== 'string') {
      return sendStream(reply, contentType, startingWith([head, value], pieces), headers, options);
    }
    head += value;
    options.room.hold(reply.raw, head.length);
  }
  return sendStream(reply, contentType, startingWith([head], pieces), headers, options);
}

// Whole answers go straight to Node: Fastify has nothing left to do for them.

function sendEmpty({ status, headers = {} }: EmptyAnswer, reply: FastifyReply): number {
  reply.hijack();
  reply.raw.writeHead(status, [...emptyAnswerHeaders[status], ...Object.entries(headers).flat()]);
  reply.raw.end();
  return status;
}

function sendText(
  reply: FastifyReply,
  contentType: string,
  body: string,
  headers: Headers,
  options: SendOptions & {
    readonly whole?: object | undefined;
    readonly status?: number | undefined;
  },
): number {
  const { room, read, whole, status = 200 } = options;
  room.hold(reply.raw, body.length);
  reply.hijack();
  const { about, entityTag } = textHeaders({ text: body, headers, whole }, read);
  if (entityTag !== undefined && isKnownToClient(read?.ifNoneMatch, entityTag)) {
    reply.raw.writeHead(304, about);
    reply.raw.end();
    return 304;
  }
  about.push('content-type', contentType);
  const { encoding } = read ?? {};
  const compressed =
    encoding !== undefined && body.length >= limits.compressedBytesMin
      ? read?.compressor.whole(body, encoding)
      : undefined;
  if (compressed === undefined) writeText(reply, about, body, room, status);
  else {
    compressed.then(
      (bytes) => {
        about.push('content-encoding', encoding ?? '', 'content-length', String(bytes.length));
        reply.raw.writeHead(200, about);
        reply.raw.end(bytes);
      },
      () => writeText(reply, about, body, room, status),
    );
  }
  return status;
}

function writeText(
  reply: FastifyReply,
  about: string[],
  body: string,
  room: AnswerBudget,
  status: number,
): void {
  const bytes = Buffer.byteLength(body);
  about.push('content-length', String(bytes));
  reply.raw.writeHead(status, about);
  if (bytes > limits.answerWindowBytes) {
    // Piece by piece, so that its reader is seen to read. It ends early only with its connection.
    pipeline(room.stream(reply.raw, inOneStep(body)), reply.raw, () => undefined);
    return;
  }
  // As many bytes as characters: plain ASCII, which need not be encoded.
  reply.raw.end(body, bytes === body.length ? 'latin1' : 'utf8');
}
