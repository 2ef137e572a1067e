import { Readable } from 'node:stream';
import type { FastifyInstance } from 'fastify';
import { DomainError, invalid } from '../domain/errors.ts';

/** A body that is read piece by piece; the sender waits while nobody asks for the next one. */
export interface StreamBody {
  readonly contentType: string | undefined;
  readonly pieces: AsyncIterable<Uint8Array>;
}

/** Mounts routes whose bodies are not gathered before their handlers run. */
export function inStreamScope(
  fastify: FastifyInstance,
  mount: (scope: FastifyInstance) => void,
): void {
  fastify.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', (_request, payload, done) => done(null, payload));
    mount(scope);
  });
}

/** The body as Fastify hands it over in such a scope. */
export function readStreamBody(body: unknown, contentType: string | undefined): StreamBody {
  const pieces = body instanceof Readable ? piecesOf(body) : noPieces();
  return { contentType, pieces };
}

async function* noPieces(): AsyncGenerator<Uint8Array> {}

async function* piecesOf(body: Readable): AsyncGenerator<Uint8Array> {
  try {
    yield* body.iterator({ destroyOnReturn: false });
  } catch (reason) {
    if (reason instanceof DomainError) throw reason;
    throw invalid('the connection ended before the body did');
  } finally {
    // A refusal leaves the rest unread: let it pass, or the client never gets to read the answer.
    body.resume();
  }
}
