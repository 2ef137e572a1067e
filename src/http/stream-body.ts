import type { IncomingMessage } from 'node:http';
import type { FastifyInstance } from 'fastify';
import { type BodyReaderParts, createBodyCount, piecesOf } from './body-reader.ts';
import { inflated } from './content-encoding.ts';

/** A body that is read piece by piece; the sender waits until the next one is asked for. */
export interface StreamBody {
  readonly contentType: string | undefined;
  readonly pieces: AsyncIterable<Uint8Array>;
}

/**
 * Mounts routes whose bodies are not gathered before their handlers run. What of a body is under
 * way counts all the same: as much as has arrived, up to two steps and a line.
 */
export function inStreamScope(
  fastify: FastifyInstance,
  parts: BodyReaderParts,
  mount: (scope: FastifyInstance) => void,
): void {
  fastify.register((scope, _options, done) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', (request, payload, done) => {
      done(null, { payload, count: createBodyCount(request, payload, parts) });
    });
    mount(scope);
    done();
  });
}

interface CountedBody {
  readonly payload: IncomingMessage;
  readonly count: (bytes: number) => void;
}

const isCounted = (body: unknown): body is CountedBody =>
  typeof body === 'object' && body !== null && 'count' in body;

/** The body as Fastify hands it over in such a scope. */
export function readStreamBody(body: unknown, contentType: string | undefined): StreamBody {
  if (!isCounted(body)) return { contentType, pieces: noPieces() };
  const encoding = body.payload.headers['content-encoding'];
  const sent = counted(body);
  return { contentType, pieces: encoding === undefined ? sent : inflated(sent, encoding) };
}

async function* noPieces(): AsyncGenerator<Uint8Array> {}

async function* counted({ payload, count }: CountedBody): AsyncGenerator<Uint8Array> {
  for await (const piece of piecesOf(payload)) {
    count(piece.length);
    yield piece;
  }
}
