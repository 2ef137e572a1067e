import type { Server } from 'node:http';
import type { Socket } from 'node:net';

/** Why a request is not read to its end. */
export type NotComing = 'too slow' | 'cut off';

/** node:http, as far as connections are given to it that it did not accept itself. */
export interface NodeHttp {
  /**
   * Gives it a connection for good, with what was read of its next request, from the first byte on.
   * From here on the connection is as if it had been node's from the beginning.
   */
  takeOver(socket: Socket, bytes: Buffer): void;
  /** The same for a connection that was paused with those bytes put back into it. */
  takePaused(socket: Socket): void;
  /** A request will not come any more, or not in time: refused as if node had read it. */
  refuse(socket: Socket, why: NotComing): void;
}

/** `listeners` are node's own, which it calls with a connection that was accepted. */
export function createNodeHttp(
  server: Server,
  listeners: ReturnType<Server['listeners']>,
): NodeHttp {
  const hand = (socket: Socket): void => {
    for (const listener of listeners) Reflect.apply(listener, server, [socket]);
  };
  return {
    takeOver(socket, bytes) {
      if (bytes.length > 0) socket.unshift(bytes);
      hand(socket);
    },
    takePaused(socket) {
      hand(socket);
      // Node waits for nobody to resume a connection: it was never paused, as far as it knows.
      socket.resume();
    },
    refuse(socket, why) {
      const code = why === 'too slow' ? 'ERR_HTTP_REQUEST_TIMEOUT' : 'HPE_INVALID_EOF_STATE';
      server.emit('clientError', Object.assign(new Error(why), { code }), socket);
    },
  };
}
