import type { Readable } from 'node:stream';
import type { FastifyInstance } from 'fastify';
import { DomainError, invalid } from '../domain/errors.ts';
import { type BodyReaderParts, createBodyCount } from './body-reader.ts';

/** A body that is read piece by piece; the sender waits while nobody asks for the next one. */
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
  readonly payload: Readable;
  readonly count: (bytes: number) => void;
}

const isCounted = (body: unknown): body is CountedBody =>
  typeof body === 'object' && body !== null && 'count' in body;

/** The body as Fastify hands it over in such a scope. */
export function readStreamBody(body: unknown, contentType: string | undefined): StreamBody {
  const pieces = isCounted(body) ? piecesOf(body) : noPieces();
  return { contentType, pieces };
}

async function* noPieces(): AsyncGenerator<Uint8Array> {}

async function* piecesOf({ payload, count }: CountedBody): AsyncGenerator<Uint8Array> {
  try {
    for await (const piece of payload.iterator({ destroyOnReturn: false })) {
      count(piece.length);
      yield piece;
    }
  } catch (reason) {
    if (reason instanceof DomainError) throw reason;
    throw invalid('the connection ended before the body did');
  } finally {
    // A refusal leaves the rest unread: let it pass, or the client never gets to read the answer.
    payload.resume();
  }
}
