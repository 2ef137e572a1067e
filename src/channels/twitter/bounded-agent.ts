import { Agent } from 'node:https';
import { connect as connectPlain } from 'node:net';
import type { Duplex } from 'node:stream';
import { connect as connectTls } from 'node:tls';
import { channelLimits } from '../limits.ts';

/**
 * The connections of a client package that neither bounds an answer nor can be called off: one
 * agent for one message, which ends its connections at the signal, and when too much arrives.
 */
export function createBoundedAgent(options: {
  /** Where the connections go, whatever host the package names. */
  readonly base: URL;
  readonly signal: AbortSignal;
}): Agent {
  const { base, signal } = options;
  const isSecure = base.protocol === 'https:';
  const host = base.hostname.replace(/^\[|\]$/g, '');
  const port = base.port === '' ? (isSecure ? 443 : 80) : Number(base.port);

  class BoundedAgent extends Agent {
    override createConnection(): Duplex {
      const socket = isSecure
        ? connectTls({ host, port, servername: host })
        : connectPlain({ host, port });
      const stop = () => socket.destroy(new Error('called off'));
      signal.addEventListener('abort', stop, { once: true });
      socket.on('close', () => signal.removeEventListener('abort', stop));
      socket.on('data', () => {
        if (socket.bytesRead > channelLimits.answerBytesMax) {
          socket.destroy(new Error('the answer is too long'));
        }
      });
      return socket;
    }
  }
  return new BoundedAgent({ keepAlive: false, maxSockets: 1 });
}
