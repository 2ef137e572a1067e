import { Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';

type Headers = Readonly<Record<string, string>>;

/** What a route answers; every success of version 2 is 200 or 204 [contract 2]. */
export type Answer =
  | { readonly kind: 'empty'; readonly status: 200 | 204 }
  | { readonly kind: 'json'; readonly message: unknown; readonly headers: Headers }
  | { readonly kind: 'bare'; readonly text: string; readonly headers: Headers }
  | {
      readonly kind: 'text';
      readonly contentType: string;
      readonly text: string;
      readonly headers: Headers;
    }
  | {
      readonly kind: 'list';
      readonly steps: AsyncIterable<readonly unknown[]>;
      readonly headers: Headers;
    }
  | {
      readonly kind: 'stream';
      readonly contentType: string;
      readonly chunks: AsyncIterable<string | Uint8Array>;
      readonly headers: Headers;
    };

export const jsonType = 'application/json; charset=utf-8';
export const textType = 'text/plain; charset=utf-8';
export const csvType = 'text/csv; charset=utf-8';

/** 204 without a body. */
export const done: Answer = { kind: 'empty', status: 204 };

export const json = (message: unknown, headers: Headers = {}): Answer => ({
  kind: 'json',
  message,
  headers,
});

/** A bare string such as a token: raw text, or a JSON string for those who ask for JSON. */
export const bare = (text: string, headers: Headers = {}): Answer => ({
  kind: 'bare',
  text,
  headers,
});

export const text = (contentType: string, body: string, headers: Headers = {}): Answer => ({
  kind: 'text',
  contentType,
  text: body,
  headers,
});

/** A JSON array that is written while its messages are found. */
export const list = (steps: AsyncIterable<readonly unknown[]>, headers: Headers = {}): Answer => ({
  kind: 'list',
  steps,
  headers,
});

export const stream = (
  contentType: string,
  chunks: AsyncIterable<string | Uint8Array>,
  headers: Headers = {},
): Answer => ({ kind: 'stream', contentType, chunks, headers });

/** What every answer carries: any web page may call the API [contract 2]. */
export const commonHeaders: Readonly<Record<string, string>> = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers': 'X-Total-Count, X-Skipped-Count, Link',
  'x-content-type-options': 'nosniff',
};

const commonHeaderList = Object.entries(commonHeaders).flat();
// Nothing to sniff and nothing to expose: pushes are answered with this.
const noContentHeaders = ['access-control-allow-origin', '*'];
const emptyHeaders = [...noContentHeaders, 'content-length', '0'];

/** Sends the answer and says its status. A stream is read only as fast as the client takes it. */
export function send(answer: Answer, accept: string | undefined, reply: FastifyReply): number {
  switch (answer.kind) {
    case 'empty':
      return sendEmpty(answer.status, reply);
    case 'json':
      return sendText(reply, jsonType, JSON.stringify(answer.message), answer.headers);
    case 'bare':
      return prefersJson(accept)
        ? sendText(reply, jsonType, JSON.stringify(answer.text), answer.headers)
        : sendText(reply, textType, answer.text, answer.headers);
    case 'text':
      return sendText(reply, answer.contentType, answer.text, answer.headers);
    case 'list':
      return sendStream(reply, jsonType, jsonArray(answer.steps), answer.headers);
    case 'stream':
      return sendStream(reply, answer.contentType, answer.chunks, answer.headers);
  }
}

function sendStream(
  reply: FastifyReply,
  contentType: string,
  chunks: AsyncIterable<string | Uint8Array>,
  headers: Headers,
): number {
  const body = Readable.from(chunks, { highWaterMark: 2 });
  reply.headers(headers).header('content-type', contentType).send(body);
  return 200;
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
): number {
  reply.hijack();
  const bytes = Buffer.byteLength(body);
  const about = ['content-type', contentType, 'content-length', String(bytes)];
  for (const name in headers) about.push(name, headers[name] ?? '');
  reply.raw.writeHead(200, [...commonHeaderList, ...about]);
  // As many bytes as characters: plain ASCII, which need not be encoded.
  reply.raw.end(body, bytes === body.length ? 'latin1' : 'utf8');
  return 200;
}

/** Whether Accept names application/json ahead of text; a wildcard names nothing [contract 2]. */
export function prefersJson(accept: string | undefined): boolean {
  const ranges = acceptedRanges(accept);
  const jsonWeight = weightOf(ranges, ['application/json']);
  const textWeight = weightOf(ranges, ['text/plain', 'text/*']);
  if (jsonWeight === undefined) return false;
  if (textWeight === undefined) return true;
  return jsonWeight.quality > textWeight.quality
    ? true
    : jsonWeight.quality === textWeight.quality && jsonWeight.place < textWeight.place;
}

/** Whether Accept names text/csv. */
export function prefersCsv(accept: string | undefined): boolean {
  return weightOf(acceptedRanges(accept), ['text/csv']) !== undefined;
}

interface Range {
  readonly type: string;
  readonly quality: number;
  readonly place: number;
}

function acceptedRanges(accept: string | undefined): readonly Range[] {
  if (accept === undefined) return [];
  return accept.split(',', 64).map((range, place) => {
    const [type = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase());
    const quality = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2);
    return { type, quality: quality === undefined ? 1 : Number(quality) || 0, place };
  });
}

function weightOf(ranges: readonly Range[], types: readonly string[]): Range | undefined {
  return ranges
    .filter(({ type, quality }) => types.includes(type) && quality > 0)
    .toSorted((a, b) => b.quality - a.quality || a.place - b.place)[0];
}
