import type { Socket } from 'node:net';

/** Outcomes of the wait for the first bytes of a connection. */
export interface FirstBytes {
  readonly waitMs: number;
  /** Answers what to do with all bytes that have come; undefined: more must come. */
  readonly take: (bytes: Buffer) => (() => void) | undefined;
  /** The client has ended its side. */
  readonly ended: () => void;
  readonly late: () => void;
  /** The wait is over, whatever its outcome; called before that. */
  readonly over?: () => void;
}

/** Waits for the first bytes of a connection, from its accept on. */
export function onFirstBytes(
  socket: Socket,
  { waitMs, take, ended, late, over }: FirstBytes,
): void {
  let head: Buffer = Buffer.alloc(0);
  const impatience = setTimeout(() => settle(late), waitMs);
  impatience.unref();

  function settle(act?: () => void): void {
    clearTimeout(impatience);
    socket.off('readable', read).off('close', close).off('end', end);
    over?.();
    act?.();
  }
  const close = () => settle();
  const end = () => settle(ended);

  function read(): void {
    const more: unknown = socket.read();
    // null: only the end is left to read, which 'end' reports.
    if (!Buffer.isBuffer(more)) return;
    head = head.length === 0 ? more : Buffer.concat([head, more]);
    const act = take(head);
    if (act !== undefined) settle(act);
  }
  socket.on('readable', read).on('close', close).on('end', end);
}
