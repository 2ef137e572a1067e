import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyServerOptions } from 'fastify';
import { limits } from '../domain/limits.ts';
import { endWithin } from '../lib/connection-guard.ts';
import { jsonType } from './answer.ts';

type ClientErrorHandler = NonNullable<FastifyServerOptions['clientErrorHandler']>;

/** What answers requests that are no HTTP; `watch` tells it of those that are. */
export interface BrokenRequests {
  readonly refuse: ClientErrorHandler;
  readonly watch: (server: Server) => void;
}

const latestAnswer = Symbol('latestAnswer');

const isRefused = Symbol('isRefused');
const isOwedRefusal = Symbol('isOwedRefusal');

/** A socket that remembers the answer to its latest request: this runs once for every request. */
interface WatchedSocket extends Socket {
  [latestAnswer]?: ServerResponse;
  [isRefused]?: true;
  [isOwedRefusal]?: true;
}

/** The answer to the request whose body arrives on the socket now. */
export function answerUnderWay(socket: Socket): ServerResponse | undefined {
  return (socket as WatchedSocket)[latestAnswer];
}

/**
 * What is no HTTP at all, or comes too slowly, gets an answer in our form and the door: after the
 * answers to the whole requests before it, as answers keep their order [RFC 9112 9.3.2].
 */
export function createBrokenRequests(): BrokenRequests {
  return {
    refuse: (error, socket: WatchedSocket) => {
      // Said again for each piece that arrives while the answers before it leave.
      if (socket[isOwedRefusal] === true) return;
      const latest = socket[latestAnswer];
      // A request that is not whole is the broken one.
      const isOwed = latest?.req.complete === true && !latest.writableFinished;
      if (!isOwed) {
        refuse(error, socket);
        return;
      }
      socket[isOwedRefusal] = true;
      latest.once('close', () => refuse(error, socket));
    },
    watch: (server) => {
      server.on('request', (request: IncomingMessage, answer: ServerResponse) => {
        (request.socket as WatchedSocket)[latestAnswer] = answer;
      });
    },
  };
}

function refuse(error: { readonly code?: string }, socket: WatchedSocket): void {
  // What arrives while the answer leaves is no HTTP either: that is known already.
  if (socket[isRefused] === true) return;
  socket[isRefused] = true;
  if (!socket.writable || error.code === 'ECONNRESET') {
    socket.destroy();
    return;
  }
  const isSlow = error.code === 'ERR_HTTP_REQUEST_TIMEOUT';
  const isLarge = error.code === 'HPE_HEADER_OVERFLOW';
  const description = isSlow
    ? 'the request took too long to arrive'
    : isLarge
      ? 'the request headers are too large'
      : 'this is not a valid HTTP request';
  const body = JSON.stringify({ error: 'invalid', description });
  const status = isSlow ? '408 Request Timeout' : '400 Bad Request';
  const answer =
    `HTTP/1.1 ${status}\r\ncontent-type: ${jsonType}\r\n` +
    `content-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`;
  endWithin(socket, limits.goodbyeMs, answer);
}
