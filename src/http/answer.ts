import { Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';
import { limits } from '../domain/limits.ts';
import { prefersJson } from './accept.ts';
import { type Encoding, isCompressible } from './compression.ts';
import {
  entityTagOf,
  isKnownToClient,
  type ReadOptions,
  revalidateHeader,
  varyHeader,
} from './read-answers.ts';

type Headers = Readonly<Record<string, string>>;

/** A JSON object whose lists are written while they are read, after its other fields. */
export interface NestedMessage<Message = unknown> {
  readonly message: Message;
  /** By key: the elements as JSON text with commas between them, in pieces. */
  readonly lists: ReadonlyMap<string, AsyncIterable<string>>;
}

export interface EmptyAnswer {
  readonly kind: 'empty';
  readonly status: 200 | 204;
  readonly cookies?: readonly string[];
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

/** What was written by hand, for speed or as it is no JSON; tests hold it to its schema. */
export interface TextAnswer {
  readonly kind: 'text';
  readonly contentType: string;
  readonly text: string;
  readonly headers: Headers;
}

export interface StreamAnswer {
  readonly kind: 'stream';
  readonly contentType: string;
  readonly chunks: AsyncIterable<string | Uint8Array>;
  readonly headers: Headers;
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

/** What a route answers; every success of version 2 is 200 or 204 [contract 2]. */
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

/** 204 without a body. */
export const done: EmptyAnswer = { kind: 'empty', status: 204 };

/** 204 without a body, with cookies to set. */
export const doneSetting = (...cookies: readonly string[]): EmptyAnswer => ({ ...done, cookies });

export const json = <Message>(message: Message, headers: Headers = {}): JsonAnswer<Message> => ({
  kind: 'json',
  message,
  headers,
});

/** A bare string such as a token: raw text, or a JSON string for those who ask for JSON. */
export const bare = (
  text: string,
  headers: Headers = {},
  cookies: readonly string[] = [],
): BareAnswer => ({
  kind: 'bare',
  text,
  headers,
  cookies,
});

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
): ListAnswer<Element> => ({
  kind: 'list',
  steps,
  headers,
});

export const stream = (
  contentType: string,
  chunks: AsyncIterable<string | Uint8Array>,
  headers: Headers = {},
): StreamAnswer => ({ kind: 'stream', contentType, chunks, headers });

/** What every answer carries: any web page may call the API [contract 2]. */
export const commonHeaders: Readonly<Record<string, string>> = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers': 'X-Total-Count, X-Skipped-Count, Link, ETag',
  'x-content-type-options': 'nosniff',
};

const commonHeaderList = Object.entries(commonHeaders).flat();
// Nothing to sniff and nothing to expose: pushes are answered with this.
const noContentHeaders = ['access-control-allow-origin', '*'];
const emptyHeaders = [...noContentHeaders, 'content-length', '0'];

/**
 * Sends the answer and says its status. A stream is read only as fast as the client takes it.
 * With `read`, the answer may be compressed, and one that the client has is not sent again.
 */
export function send(
  answer: Answer,
  accept: string | undefined,
  reply: FastifyReply,
  read?: ReadOptions,
): number {
  if ('cookies' in answer && answer.cookies.length > 0) {
    // Written by writeHead with what else it is given.
    reply.raw.setHeader('set-cookie', answer.cookies);
  }
  switch (answer.kind) {
    case 'empty':
      return sendEmpty(answer.status, reply);
    case 'json':
      return sendText(reply, jsonType, JSON.stringify(answer.message), answer.headers, read);
    case 'bare':
      return prefersJson(accept)
        ? sendText(reply, jsonType, JSON.stringify(answer.text), answer.headers, read)
        : sendText(reply, textType, answer.text, answer.headers, read);
    case 'text':
      return sendText(reply, answer.contentType, answer.text, answer.headers, read);
    case 'list':
      return sendStream(reply, jsonType, jsonArray(answer.steps), answer.headers, read);
    case 'nested':
      return sendStream(reply, jsonType, nestedObject(answer), {}, read);
    case 'nested-list':
      return sendStream(reply, jsonType, nestedArray(answer.elements), answer.headers, read);
    case 'stream':
      return sendStream(reply, answer.contentType, answer.chunks, answer.headers, read);
  }
}

function sendStream(
  reply: FastifyReply,
  contentType: string,
  chunks: AsyncIterable<string | Uint8Array>,
  headers: Headers,
  read: ReadOptions | undefined,
): number {
  reply.headers(headers).header('content-type', contentType);
  if (read !== undefined) reply.header(...varyHeader);
  if (read?.encoding !== undefined && !read.isHead && isCompressible(contentType)) {
    sendCompressed(reply, chunks, { ...read, encoding: read.encoding }).catch((error) =>
      reply.send(error),
    );
  } else {
    reply.send(Readable.from(chunks, { highWaterMark: 2 }));
  }
  return 200;
}

/** Compresses a stream, unless it ends before that is worth the while. */
async function sendCompressed(
  reply: FastifyReply,
  chunks: AsyncIterable<string | Uint8Array>,
  { encoding, compressor }: ReadOptions & { readonly encoding: Encoding },
): Promise<void> {
  const source = chunks[Symbol.asyncIterator]();
  const first: (string | Uint8Array)[] = [];
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
  const compressed = isWhole ? undefined : compressor.stream(all, encoding);
  if (compressed !== undefined) reply.header('content-encoding', encoding);
  reply.send(compressed ?? Readable.from(all, { highWaterMark: 2 }));
}

async function* startingWith<Item>(
  first: readonly Item[],
  rest: AsyncIterator<Item>,
): AsyncGenerator<Item> {
  try {
    yield* first;
    for (let step = await rest.next(); step.done !== true; step = await rest.next()) {
      yield step.value;
    }
  } finally {
    await rest.return?.();
  }
}

async function* jsonArray(steps: AsyncIterable<readonly unknown[]>): AsyncIterable<string> {
  let separator = '[';
  for await (const step of steps) {
    if (step.length === 0) continue;
    yield separator + step.map((message) => JSON.stringify(message)).join(',');
    separator = ',';
  }
  yield separator === '[' ? '[]' : ']';
}

async function* nestedArray(elements: AsyncIterable<NestedMessage>): AsyncIterable<string> {
  let separator = '[';
  for await (const element of elements) {
    yield separator;
    yield* nestedObject(element);
    separator = ',';
  }
  yield separator === '[' ? '[]' : ']';
}

async function* nestedObject({ message, lists }: NestedMessage): AsyncIterable<string> {
  let text = JSON.stringify(message).slice(0, -1);
  for (const [key, pieces] of lists) {
    yield `${text}${text === '{' ? '' : ','}${JSON.stringify(key)}:[`;
    yield* pieces;
    text = ']';
  }
  yield `${text}}`;
}

/** What is held back until it is known whether an answer is short. */
const wholeCharactersMax = 262_144;

/** Text that is written while it is read; a short one is answered as a whole, with its length. */
export async function written(
  contentType: string,
  chunks: AsyncIterable<string>,
  headers: Headers = {},
): Promise<TextAnswer | StreamAnswer> {
  const pieces = chunks[Symbol.asyncIterator]();
  let head = '';
  while (head.length < wholeCharactersMax) {
    const { done, value } = await pieces.next();
    if (done === true) return text(contentType, head, headers);
    head += value;
  }
  return stream(contentType, continued(head, pieces), headers);
}

async function* continued(head: string, rest: AsyncIterator<string>): AsyncGenerator<string> {
  try {
    yield head;
    for (let next = await rest.next(); next.done !== true; next = await rest.next()) {
      yield next.value;
    }
  } finally {
    await rest.return?.();
  }
}

// What is whole goes straight to Node: nothing of it is left for Fastify to do.

function sendEmpty(status: 200 | 204, reply: FastifyReply): number {
  reply.hijack();
  reply.raw.writeHead(status, status === 204 ? noContentHeaders : emptyHeaders);
  reply.raw.end();
  return status;
}

function sendText(
  reply: FastifyReply,
  contentType: string,
  body: string,
  headers: Headers,
  read: ReadOptions | undefined,
): number {
  reply.hijack();
  const about = [...commonHeaderList];
  for (const name in headers) about.push(name, headers[name] ?? '');
  if (read !== undefined) {
    const entityTag = entityTagOf(body);
    about.push('etag', entityTag, ...varyHeader);
    if (headers['cache-control'] === undefined) about.push(...revalidateHeader);
    if (isKnownToClient(read.ifNoneMatch, entityTag)) {
      reply.raw.writeHead(304, about);
      reply.raw.end();
      return 304;
    }
  }
  about.push('content-type', contentType);
  const { encoding } = read ?? {};
  const compressed =
    encoding !== undefined && body.length >= limits.compressedBytesMin
      ? read?.compressor.whole(body, encoding)
      : undefined;
  if (compressed === undefined) writeText(reply, about, body);
  else {
    compressed.then(
      (bytes) => {
        about.push('content-encoding', encoding ?? '', 'content-length', String(bytes.length));
        reply.raw.writeHead(200, about);
        reply.raw.end(bytes);
      },
      () => writeText(reply, about, body),
    );
  }
  return 200;
}

function writeText(reply: FastifyReply, about: string[], body: string): void {
  const bytes = Buffer.byteLength(body);
  about.push('content-length', String(bytes));
  reply.raw.writeHead(200, about);
  // As many bytes as characters: plain ASCII, which need not be encoded.
  reply.raw.end(body, bytes === body.length ? 'latin1' : 'utf8');
}
