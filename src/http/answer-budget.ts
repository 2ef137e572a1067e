import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { Readable } from 'node:stream';
import type { FastifyInstance } from 'fastify';
import type { Actor } from '../domain/actor.ts';
import {
  type Budget,
  budgetError,
  type Payer,
  payerAt,
  payerOf,
} from '../domain/budgets/budget.ts';
import { DomainError } from '../domain/errors.ts';
import { limits } from '../domain/limits.ts';
import { countFor, payerOfConnection } from '../lib/connection-guard.ts';
import { createBreather } from '../lib/event-loop.ts';
import { type LongText, sliceCharacters, slicesOf } from '../lib/long-json.ts';
import { stepsPaidBy } from '../lib/paid-work.ts';
import { stepsOf } from '../lib/steps.ts';
import type { Authenticate, Clients, RequestSource } from './authentication.ts';

/**
 * The budget of answers that wait to be read. A reader may be slow or read nothing at all: bytes
 * kept for it count for the payer of the request; one that takes nothing for `unreadMs` is cut off.
 */
export type AnswerBudget = ReturnType<typeof createAnswerBudget>;
export type Chunks = AsyncIterable<string | Uint8Array | LongText>;

/** A claim on the budget: for an answer, or for bytes that wait on a connection. */
interface Held {
  readonly socket: Socket;
  readonly payer: Payer;
  bytes: number;
  /** Bytes that the connection had taken when it was seen to take some. */
  taken: number;
  takenAt: number;
}

/** Where a connection says for whose account it counts: mostly all its requests are of one. */
const paidBy = Symbol('paidBy');
/** Where a request says who asked. */
export const asker = Symbol('asker');
interface AskedRequest extends RequestSource {
  [asker]?: Actor;
}

export function createAnswerBudget(
  fastify: FastifyInstance,
  options: {
    readonly budget: Budget;
    readonly authenticate: Authenticate;
    readonly clients: Clients;
    readonly unreadMs: number;
  },
) {
  const { budget, authenticate, clients, unreadMs } = options;
  const open = new Map<object, Held>();

  /** The payer of the answer to a request. */
  function payerFor(request: AskedRequest): Payer {
    const actor = request[asker];
    const isGuest = actor === undefined || actor.kind === 'guest';
    return isGuest ? payerAt(clients.of(request).address) : payerOf(actor);
  }

  /**
   * Reserves so many bytes of an answer in all, unless it is small, until it has left or its
   * connection is gone. Throws rate_limited.
   */
  function hold(answer: ServerResponse, bytes: number): void {
    if (bytes > limits.freeAnswerBytes) holdInAll(answer, bytes);
  }

  function holdInAll(answer: ServerResponse, bytes: number): void {
    const held = open.get(answer) ?? begin(answer);
    const more = bytes - held.bytes;
    if (more <= 0) return;
    const refusal = budget.take(held.payer, more);
    if (refusal !== undefined) throw budgetError(budget, refusal);
    held.bytes = bytes;
  }

  function begin(answer: ServerResponse): Held {
    const { req: request } = answer;
    // The `close` of the answer was emitted, or is at once: nothing would release the budget.
    if (request.socket.destroyed) throw new DomainError('unavailable', 'nobody is there to read');
    const held = heldOn(request.socket, payerFor(request));
    open.set(answer, held);
    answer.once('close', () => {
      open.delete(answer);
      if (held.bytes > 0) budget.release(held.payer, held.bytes);
    });
    return held;
  }

  /** Counts what the client has not taken of an answer; cuts it off where there is no budget. */
  function written(answer: ServerResponse): void {
    const left = answer.writableLength;
    if (left === 0 || answer.closed) return;
    try {
      holdInAll(answer, left);
    } catch {
      answer.req.socket.destroy();
    }
  }

  const sweep = setInterval(
    () => {
      const now = performance.now();
      for (const held of open.values()) {
        const { socket } = held;
        const taken = takenBy(socket);
        if (taken !== held.taken || socket.writableLength === 0) {
          held.taken = taken;
          held.takenAt = now;
        } else if (now - held.takenAt > unreadMs) {
          socket.destroy();
        }
      }
    },
    Math.min(limits.connectionsCheckMs, unreadMs),
  );
  sweep.unref();
  fastify.addHook('onClose', async () => clearInterval(sweep));
  // Pages, files and refusals, which Fastify sends by itself.
  fastify.addHook('onSend', (_request, { raw }, payload, done) => {
    try {
      hold(raw, payload instanceof Readable ? limits.answerWindowBytes : lengthOf(payload));
      done();
    } catch (error) {
      if (payload instanceof Readable) payload.destroy();
      done(error as Error);
    }
  });
  guardBodies(fastify.server);
  // The last bytes of an answer are with the socket then, also those of refusals and of answers
  // without a body. TLS takes them a moment later.
  const watch = (answer: ServerResponse) =>
    answer.on('prefinish', () => {
      if (answer.writableLength > 0) setImmediate(() => written(answer));
    });
  fastify.server.prependListener('request', (_request, answer) => void watch(answer));
  // Node answers an expectation that it does not know by itself, and tells of no request.
  fastify.server.on('checkExpectation', (_request, answer) => watch(answer).writeHead(417).end());

  /** Says who asked, and pays for the connection; without it the client's address pays. */
  function askedBy(request: AskedRequest, actor: Actor): void {
    request[asker] = actor;
    if (actor.kind === 'guest') return;
    const socket: Socket & { [paidBy]?: Actor } = request.socket;
    if (socket[paidBy] === actor) return;
    const payer = payerOf(actor);
    countFor(socket, payer);
    if (payerOfConnection(socket) === payer) socket[paidBy] = actor;
  }

  return {
    askedBy,
    /**
     * Finds who asks before the body is there: the account that the head names, else the client.
     * The connection counts for the account from then on. Never rejects.
     */
    async identify(request: RequestSource): Promise<Payer> {
      try {
        askedBy(request, await authenticate(request.headers.authorization));
      } catch {
        // The route refuses the token when the body has arrived.
      }
      return payerFor(request);
    },
    hold,
    /** Bounded pieces of an answer, read as fast as the client reads. Throws like `hold`. */
    stream(answer: ServerResponse, chunks: Chunks): Readable {
      hold(answer, limits.answerWindowBytes);
      const paid = stepsPaidBy(payerFor(answer.req), chunks);
      const pieces = piecesOf(paid, (bytes) => hold(answer, bytes));
      return Readable.from(pieces, { objectMode: true, highWaterMark: 1 });
    },
    payerOf: payerFor,
    /** Reserves waiting bytes until the answered function is called; undefined: none are left. */
    reserve(socket: Socket, payer: Payer, bytes: number): (() => void) | undefined {
      if (budget.take(payer, bytes) !== undefined) return undefined;
      const held = { ...heldOn(socket, payer), bytes };
      open.set(held, held);
      return () => {
        if (open.delete(held)) budget.release(payer, bytes);
      };
    },
  };
}

const heldOn = (socket: Socket, payer: Payer): Held => ({
  ...{ socket, payer, bytes: 0 },
  ...{ taken: takenBy(socket), takenAt: performance.now() },
});

/** Counts the bytes that a connection has handed to the operating system so far. */
const takenBy = (socket: Socket): number => socket.bytesWritten - socket.writableLength;

/** The bytes of chunks, a long text slice by slice. `hold` reserves the bytes of each first. */
function bytesOf(chunks: Chunks, hold: (bytes: number) => void): AsyncIterable<Uint8Array> {
  const source = chunks[Symbol.asyncIterator]();
  const breathe = createBreather();
  let slices: Iterator<string | Uint8Array> | undefined;

  async function nextPart(): Promise<string | Uint8Array | undefined> {
    if (slices !== undefined) {
      // A fast reader takes one slice after the other, and no other work would run.
      await breathe();
      const { done, value } = slices.next();
      if (done !== true) return value;
      slices = undefined;
    }
    const { done, value } = await source.next();
    if (done === true) return undefined;
    if (value instanceof Uint8Array) return value;
    if (typeof value === 'string' && value.length <= usualCharactersMax) return value;
    hold(value.length);
    slices =
      typeof value === 'string' ? slicesOf(value, sliceCharacters) : value[Symbol.iterator]();
    return '';
  }

  return stepsOf(
    async () => {
      while (true) {
        const part = await nextPart();
        if (part === undefined) return undefined;
        const bytes = typeof part === 'string' ? Buffer.from(part) : part;
        hold(bytes.length);
        if (bytes.length > 0) return bytes;
      }
    },
    async () => void (await source.return?.()),
  );
}

/** Longer texts are made bytes slice by slice. */
const usualCharactersMax = 524_288;

/** Chunks for readers of bytes. */
export const inSlices = (chunks: Chunks): AsyncIterable<Uint8Array> =>
  bytesOf(chunks, () => undefined);

/** Each is sent and seen to leave by itself. A chunk that is larger than usual counts as well. */
function piecesOf(chunks: Chunks, hold: (bytes: number) => void): AsyncIterable<Uint8Array> {
  const source = bytesOf(chunks, hold)[Symbol.asyncIterator]();
  let left: Uint8Array = new Uint8Array();
  return stepsOf(
    async () => {
      if (left.length === 0) {
        const { done, value } = await source.next();
        if (done === true) return undefined;
        left = value;
      }
      const bytes = left;
      left = bytes.subarray(limits.answerPieceBytes);
      return bytes.subarray(0, limits.answerPieceBytes);
    },
    async () => void (await source.return?.()),
  );
}

function lengthOf(payload: unknown): number {
  return typeof payload === 'string' || Buffer.isBuffer(payload) ? payload.length : 0;
}

/** Keeps requests from costing memory that nobody counts: by bodies that come in pieces. */
function guardBodies(server: Server): void {
  server.prependListener('request', (request: IncomingMessage) => {
    if (request.headers['transfer-encoding'] !== undefined) refuseTinyChunks(request);
    // Discards a body that came with a read: unused, it would wait in pieces of any size.
    if (isRead(request) && hasBody(request)) request.resume();
  });
}

const isRead = ({ method }: IncomingMessage): boolean => method === 'GET' || method === 'HEAD';

const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers['transfer-encoding'] !== undefined || headers['content-length'] !== undefined;

/**
 * Ends the connection of a request whose body comes in chunks of a byte or so [RFC 9112, 7.1]: a
 * few bytes on the network would be an object each, and hours of work for who reads them.
 */
function refuseTinyChunks(request: IncomingMessage): void {
  let chunks = 0;
  let bytes = 0;
  // The parser hands each chunk over here, whether anybody reads the body or not.
  request.push = function push(chunk: Uint8Array | null, encoding?: BufferEncoding): boolean {
    if (chunk !== null) {
      chunks += 1;
      bytes += chunk.length;
      if (chunks > limits.tinyChunksMax + bytes / limits.chunkBytesUsual) {
        request.socket.destroy();
        return false;
      }
    }
    return Object.getPrototypeOf(request).push.call(request, chunk, encoding);
  };
}
