import type { Socket } from 'node:net';
import type { FastifyServerOptions } from 'fastify';
import { limits } from '../domain/limits.ts';
import { endWithin } from '../lib/connection-guard.ts';
import { ownEntry } from '../lib/own-entry.ts';
import { jsonType } from './answer.ts';
import { answerUnderWay, noRoomCode } from './request-gate.ts';

type ClientErrorHandler = NonNullable<FastifyServerOptions['clientErrorHandler']>;
const isRefused = Symbol('isRefused');
const isOwedRefusal = Symbol('isOwedRefusal');

interface WatchedSocket extends Socket {
  [isRefused]?: true;
  [isOwedRefusal]?: true;
}

/**
 * Answers a request that is no HTTP, or comes too slowly, in our form and closes its connection:
 * after the answers to the whole requests before it, as answers keep their order [RFC 9112 9.3.2].
 */
export const refuseBrokenRequest: ClientErrorHandler = (error, socket: WatchedSocket) => {
  // The request before said that it is the last one: its answer is the last, too [RFC 9112 9.6].
  if (error.code === 'HPE_CLOSED_CONNECTION') return;
  // Said again for each piece that arrives while the answers before it leave.
  if (socket[isOwedRefusal] === true) return;
  // A request that is not whole is the broken one.
  const last = answerUnderWay(socket);
  if (last?.req.complete !== true || last.writableFinished) {
    refuse(error, socket);
    return;
  }
  socket[isOwedRefusal] = true;
  last.once('close', () => refuse(error, socket));
};

function refuse(error: { readonly code?: string }, socket: WatchedSocket): void {
  // Bytes that arrive while the answer leaves are no HTTP either: that is known already.
  if (socket[isRefused] === true) return;
  socket[isRefused] = true;
  if (!socket.writable || error.code === 'ECONNRESET') {
    socket.destroy();
    return;
  }
  if (error.code === noRoomCode) {
    // Nothing of it is kept any longer, not even to wait for its client.
    const sentence = 'there is no room for more requests that are not whole: send it again later';
    socket.write(
      answerOf('429 Too Many Requests', 'rate_limited', sentence, 'retry-after: 10\r\n'),
    );
    socket.destroySoon();
    return;
  }
  const [status, description] = ownEntry(answers, error.code ?? '') ?? usualAnswer;
  endWithin(socket, limits.goodbyeMs, answerOf(status, 'invalid', description));
}

const usualAnswer = ['400 Bad Request', 'this is not a valid HTTP request'] as const;
const answers: Readonly<Record<string, readonly [string, string]>> = {
  ERR_HTTP_REQUEST_TIMEOUT: ['408 Request Timeout', 'the request took too long to arrive'],
  HPE_HEADER_OVERFLOW: ['400 Bad Request', 'the request headers are too large'],
};

function answerOf(status: string, code: string, description: string, fields = ''): string {
  const body = JSON.stringify({ error: code, description, code, params: {} });
  return (
    `HTTP/1.1 ${status}\r\n${fields}content-type: ${jsonType}\r\n` +
    `content-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`
  );
}
