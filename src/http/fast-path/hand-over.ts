import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { WaitingBudget } from '../../domain/budgets/budget.ts';
import { gateOf, type NotComing, RequestGate, refuseRequest } from '../request-gate.ts';

/** node:http, as far as connections are given to it that it did not accept itself. */
export interface NodeHttp {
  /**
   * Gives it a connection for good, with what was read of its next request, from the first byte on.
   * `hasEnded`: nothing follows them.
   */
  takeOver(socket: Socket, bytes: Buffer, hasEnded: boolean): void;
  /** A request will not come any more, or not in time: refused as if node had read it. */
  refuse(socket: Socket, why: NotComing): void;
  close(): void;
}

/** `listeners` are node's own, which it calls with a connection that was accepted. */
export function createNodeHttp(
  server: Server,
  {
    listeners,
    headersMs,
    checkMs,
    room,
  }: {
    readonly room: WaitingBudget;
    readonly listeners: ReturnType<Server['listeners']>;
    readonly headersMs: number;
    readonly checkMs: number;
  },
): NodeHttp {
  const parts = { server, open: new Set<RequestGate>(), room };
  server.prependListener('request', (request: IncomingMessage, answer: ServerResponse) =>
    gateOf(request.socket)?.begun(request, answer),
  );
  const sweep = setInterval(() => {
    const now = performance.now();
    for (const gate of parts.open) gate.sweep(now, headersMs);
  }, checkMs);
  sweep.unref();
  return {
    takeOver(socket, bytes, hasEnded) {
      const gate = new RequestGate(parts, socket, () => {
        for (const listener of listeners) Reflect.apply(listener, server, [socket]);
      });
      // Node resumes no connection itself: as far as it knows, it was never paused.
      socket.resume();
      gate.receive(bytes);
      if (hasEnded) gate.end();
    },
    refuse: (socket, why) => refuseRequest(server, socket, why),
    close: () => clearInterval(sweep),
  };
}
