import type { Socket } from 'node:net';
import type { WaitingBudget } from '../../domain/budgets/budget.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Log } from '../../lib/log.ts';
import { readOptionsOf } from '../answer-headers.ts';
import { type OnRefused, refusalOf, refuseAsUsual } from '../error-handler.ts';
import type { NodeHttp } from '../request-gate.ts';
import { createResponder, type Edge, mayShorten, type Route } from '../route.ts';
import { type AnswerWriter, createAnswerWriter } from './answers.ts';
import { FastConnection, type FastPathParts, type HotTarget } from './connection.ts';
import { type HotPattern, hotPattern, readHotRequest } from './reader.ts';

/** The path of plain requests of hot routes from the socket to their handlers [decision 0015]. */
export interface FastPath {
  /**
   * Takes a connection that begins with a hot request, with its first bytes; answers whether it
   * did.
   */
  take(socket: Socket, first: Buffer): boolean;
  /** Ends connections as soon as nothing is under way on them. */
  close(): void;
}

export interface FastPathOptions extends Edge {
  /** Routes below a prefix; those that are not hot are left out. */
  readonly mounted: readonly {
    readonly prefix: string;
    readonly routes: readonly Route[];
  }[];
  readonly waiting: WaitingBudget;
  readonly timeouts: {
    readonly requestMs: number;
    readonly keepAliveMs: number;
    /** How long node waits beyond the time that it announces to clients. */
    readonly keepAliveBufferMs: number;
    readonly checkMs: number;
  };
  readonly clock: Clock;
  readonly onRefused: OnRefused;
  readonly log: Log;
}

/** Opens the fast path before `node`, which gets all that is not exactly a hot request. */
export function createFastPath(options: FastPathOptions, node: NodeHttp): FastPath {
  const { room, waiting, clients, turns, timeouts } = options;
  const writer = createAnswerWriter(timeouts.keepAliveMs, options.clock);
  const lines = hotLinesOf(options, writer);
  const parts: FastPathParts = {
    ...{ node, lines, room, waiting, clients, turns },
    requestMs: timeouts.requestMs,
    idleMs: timeouts.keepAliveMs + timeouts.keepAliveBufferMs,
    isClosing: false,
    open: new Set(),
  };
  const sweep = setInterval(() => {
    const now = performance.now();
    for (const connection of parts.open) connection.sweep(now);
  }, timeouts.checkMs);
  sweep.unref();
  return {
    take(socket, first) {
      if (readHotRequest(first, 0, lines, undefined) === undefined) return false;
      new FastConnection(parts, socket).receive(first);
      return true;
    },
    close() {
      parts.isClosing = true;
      clearInterval(sweep);
      for (const connection of parts.open) connection.close();
    },
  };
}

function hotLinesOf(
  { mounted, ...options }: FastPathOptions,
  writer: AnswerWriter,
): readonly HotPattern<HotTarget>[] {
  return mounted.flatMap(({ prefix, routes }) =>
    routes
      .filter(({ isHot }) => isHot === true)
      .map((route) => {
        const path = prefix + route.path;
        if (route.method !== 'GET' && route.method !== 'POST') throw new Error(`${path} is hot`);
        return hotPattern(route.method, path, hotTarget(route, path, options, writer));
      }),
  );
}

/** Serves a route as `mountRoute` does, without Fastify. */
function hotTarget(
  route: Route,
  label: string,
  options: Omit<FastPathOptions, 'mounted'>,
  writer: AnswerWriter,
): HotTarget {
  const { compressor, reporter } = options;
  const respond = createResponder(route, options);
  const { method } = route;
  const isShortened = mayShorten(route);
  const refusal = { ...options, refuse: refuseAsUsual };
  const routeOptions = { url: label };
  return {
    async answer(call) {
      const startedAt = performance.now();
      try {
        const answer = await respond(call);
        const read = isShortened ? readOptionsOf(call.headers, method, compressor) : undefined;
        const written = writer.answer(answer, read);
        if (written === undefined) {
          if (method === 'GET') return undefined;
          throw new Error(`${label} answers what the fast path cannot`);
        }
        const durationMs = performance.now() - startedAt;
        reporter.requestAnswered({ method, route: label, status: written.status, durationMs });
        return written.bytes;
      } catch (error) {
        const durationMs = performance.now() - startedAt;
        const { params, url, headers, body, raw } = call;
        const asked = { params, url, headers, body, raw };
        const refused = { ...{ method, is404: false, routeOptions }, ...asked };
        return writer.refusal(refusalOf(error, refused, durationMs, refusal)).bytes;
      }
    },
  };
}
