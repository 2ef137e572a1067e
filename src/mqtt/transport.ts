import type { Payer } from '../domain/budgets/payer.ts';

/** The byte stream to one peer, whatever carries it: a socket, TLS, a WebSocket. */
export interface Transport {
  /** Sends the bytes in order, now or as soon as the socket takes them; never throws. */
  write(bytes: Uint8Array): void;
  /** Bytes that were written and have not left yet. */
  readonly bufferedBytes: number;
  /** Sends what was written, then closes; destroys it when that takes too long. */
  end(): void;
  /** Closes at once, whatever was not sent. */
  destroy(): void;
  /** The peer is too fast for us: receive() is not called until resume(). */
  pause(): void;
  resume(): void;
  /** Counts the connection for the payer that has logged in on it. */
  countFor?(payer: Payer): void;
  /** Says that a login waits for its answer, until what it answers is called. */
  holdForLogin?(): () => void;
}

/** The broker's side of a connection, called by its transport. */
export interface Receiver {
  /** Bytes arrived; the broker may keep slices of the chunk, so it must not be written to again. */
  receive(chunk: Uint8Array): void;
  /** Bytes in memory that cannot be handed on yet, instead of those before. */
  held(bytes: number): void;
  /** Buffered bytes have left: more can be written. */
  drained(): void;
  /** The connection is over, for whatever reason; called once. */
  closed(): void;
}
