import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyServerOptions } from 'fastify';
import { jsonType } from './answer.ts';

type ClientErrorHandler = NonNullable<FastifyServerOptions['clientErrorHandler']>;

/** What answers requests that are no HTTP; `watch` tells it of those that are. */
export interface BrokenRequests {
  readonly refuse: ClientErrorHandler;
  readonly watch: (server: Server) => void;
}

const latestAnswer = Symbol('latestAnswer');

/** A socket that remembers the answer to its latest request: this runs once for every request. */
interface WatchedSocket extends Socket {
  [latestAnswer]?: ServerResponse;
}

/**
 * What is no HTTP at all, or comes too slowly, gets an answer in our form and the door: after the
 * answers to the whole requests before it, as answers keep their order [RFC 9112 9.3.2].
 */
export function createBrokenRequests(): BrokenRequests {
  return {
    refuse: (error, socket) => {
      const latest = (socket as WatchedSocket)[latestAnswer];
      // A request that is not whole is the broken one.
      const isOwed = latest?.req.complete === true && !latest.writableFinished;
      if (isOwed) latest.once('close', () => refuse(error, socket));
      else refuse(error, socket);
    },
    watch: (server) => {
      server.on('request', (request: IncomingMessage, answer: ServerResponse) => {
        (request.socket as WatchedSocket)[latestAnswer] = answer;
      });
    },
  };
}

function refuse(error: { readonly code?: string }, socket: Socket): void {
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
  socket.end(
    `HTTP/1.1 ${status}\r\ncontent-type: ${jsonType}\r\n` +
      `content-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`,
  );
}
