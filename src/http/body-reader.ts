import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Budget, Payer } from '../domain/budgets/budget.ts';
import { DomainError, invalid } from '../domain/errors.ts';
import { limits } from '../domain/limits.ts';
import { endWithin } from '../lib/connection-guard.ts';
import { gatherBytes } from '../lib/gathered-bytes.ts';
import type { AnswerBudget } from './answer-budget.ts';
import { bounded, inflated, inflaterBytes, isCompressed } from './content-encoding.ts';
import { answerUnderWay } from './request-gate.ts';

interface BodyReaderParts extends Pick<AnswerBudget, 'identify'> {
  /** The budget of bodies that have not arrived whole, or are not answered yet. */
  readonly room: Budget;
}

type Done = (error: Error | null, body?: Buffer) => void;

/** Bodies reach the routes as bytes: each route says how they are to be read. */
export function readBodiesAsBytes(fastify: FastifyInstance, parts: BodyReaderParts): void {
  fastify.removeAllContentTypeParsers();
  // The two usual types by name: Fastify finds them without taking the header apart.
  for (const type of ['application/json', 'text/plain', '*']) {
    fastify.addContentTypeParser(type, (request, payload, done: Done) => {
      if (request.headers['content-encoding'] === undefined) {
        readBody(request, payload, { parts, done });
        return;
      }
      readEncodedBody(request, payload, parts).then(
        (body) => done(null, body),
        (error: Error) => {
          closeGently(payload.socket);
          payload.resume();
          done(error);
        },
      );
    });
  }
}

/** Gathers a body within the limit of its path, compressed and inflated. */
async function readEncodedBody(
  request: FastifyRequest,
  payload: IncomingMessage,
  parts: BodyReaderParts,
): Promise<Buffer> {
  const bytesMax = request.routeOptions.bodyLimit ?? limits.bodyBytesMax;
  const encoding = request.headers['content-encoding'];
  const count = createBodyCount(request, payload, parts, bytesMax + inflaterBytes);
  if (isCompressed(encoding)) count(inflaterBytes);
  const sent = bounded(piecesOf(payload), bytesMax);
  const gathered = gatherBytes();
  for await (const piece of bounded(inflated(sent, encoding), bytesMax)) {
    count(piece.length);
    gathered.add(piece);
  }
  return gathered.take();
}

/** The pieces of a body as they arrive. Throws invalid when the connection ends before it. */
export async function* piecesOf(payload: Readable): AsyncGenerator<Uint8Array> {
  try {
    yield* payload.iterator({ destroyOnReturn: false });
  } catch {
    throw invalid('the connection ended before the body did');
  } finally {
    // A refusal leaves the rest unread: let it pass, or the client never gets to read the answer.
    payload.resume();
  }
}

/**
 * Gathers a body. Bytes that have arrived count for their payer: the account that the head of the
 * request names, else the address; until the answer is sent. The first 4 KiB cost nothing, so that
 * small requests are never refused for what others send.
 */
function readBody(
  request: FastifyRequest,
  payload: IncomingMessage,
  { parts, done }: { readonly parts: BodyReaderParts; readonly done: Done },
): void {
  const bytesMax = request.routeOptions.bodyLimit ?? limits.bodyBytesMax;
  const announced = Number(request.headers['content-length']);
  const gathered = gatherBytes();
  let held: HeldBudget | undefined;

  function stop(): void {
    payload.off('data', add);
    payload.off('end', end);
    payload.off('error', fail);
  }
  function refuse(error: Error): void {
    stop();
    gathered.take();
    closeGently(payload.socket);
    // Bytes that still arrive are dropped while the answer leaves.
    payload.resume();
    done(error);
  }
  function add(chunk: Buffer): void {
    const received = gathered.length + chunk.length;
    if (received > bytesMax) {
      refuse(new DomainError('too_large', 'the body is larger than this path takes'));
      return;
    }
    gathered.add(chunk);
    if (received <= limits.freeBodyBytes) return;
    held ??= holdRoom(request, payload, parts, refuse);
    held.grow(received);
  }
  function end(): void {
    // The body is over: nothing more comes to its listeners, and taking them off costs time.
    done(null, gathered.take());
  }
  function fail(): void {
    stop();
    done(invalid('the connection ended before the body did'));
  }

  if (announced > bytesMax) {
    refuse(new DomainError('too_large', 'the body is larger than this path takes'));
    return;
  }
  payload.on('data', add);
  payload.on('end', end);
  payload.on('error', fail);
}

/**
 * Counts a body that is read piece by piece, for its payer. The function that it answers takes the
 * length of a piece, and throws rate_limited when the budget is used up.
 */
function createBodyCount(
  request: FastifyRequest,
  payload: IncomingMessage,
  parts: BodyReaderParts,
  bytesHeldMax = bulkBytesHeldMax,
): (bytes: number) => void {
  // Asked for now: when the pieces are read, the next request may have come.
  const answer = answerUnderWay(payload.socket);
  let received = 0;
  let held: HeldBudget | undefined;
  let refusal: Error | undefined;
  const refuse = (error: Error): void => {
    refusal = error;
  };
  return (bytes) => {
    received += bytes;
    if (received > limits.freeBodyBytes) {
      held ??= holdRoom(request, payload, parts, refuse, answer);
      held.grow(Math.min(received, bytesHeldMax));
    }
    if (refusal !== undefined) throw refusal;
  };
}

const bulkBytesHeldMax = 2 * limits.bulkBytesPerStep + limits.bulkLineBytesMax;

interface HeldBudget {
  /** Reserves so many bytes in all, or refuses the body. */
  grow(bytes: number): void;
}

function holdRoom(
  request: FastifyRequest,
  payload: IncomingMessage,
  { room, identify }: BodyReaderParts,
  refuse: (error: Error) => void,
  answer = answerUnderWay(payload.socket),
): HeldBudget {
  let payer: Payer | undefined;
  let wanted = 0;
  let held = 0;
  let isOver = false;

  function hold(): void {
    if (payer === undefined || isOver) return;
    try {
      room.takeOrThrow(payer, wanted - held);
      held = wanted;
    } catch (error) {
      isOver = true;
      refuse(error as DomainError);
    }
  }
  function begin(found: Payer): void {
    payer = found;
    payload.resume();
    hold();
  }

  // The answer is sent, or the connection is gone; if it is gone already, no event follows.
  if (payload.socket.destroyed) isOver = true;
  answer?.once('close', release);
  function release(): void {
    isOver = true;
    if (payer !== undefined && held > 0) room.release(payer, held);
    held = 0;
  }
  payload.pause();
  void identify(request.raw).then(begin);
  return {
    grow(bytes) {
      if (bytes === wanted) return;
      wanted = bytes;
      hold();
    },
  };
}

/**
 * Node destroys the socket of a refused body as soon as the answer is written; with bytes unread,
 * the kernel then resets the connection, and the client may never see the answer.
 */
function closeGently(socket: Socket): void {
  socket.destroySoon = () => endWithin(socket, limits.goodbyeMs);
}

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
