import type { Socket } from 'node:net';
import { proxyHeaderBytesMax, readProxyHeader } from './proxy-header.ts';

/** Outcomes of a connection of a balancer that may name its client. */
export interface ProxiedOutcome {
  /** The socket holds the client's own bytes; without an address, the balancer named none. */
  readonly arrived: (address: string | undefined) => void;
  /** The header is wrong, or did not come in time. */
  readonly refused: () => void;
}

/** Reads the header of a connection from a trusted balancer, if it begins with one. */
export function readClientOf(
  socket: Socket,
  { waitMs, outcome }: { readonly waitMs: number; readonly outcome: ProxiedOutcome },
): void {
  let head: Buffer = Buffer.alloc(0);
  const impatience = setTimeout(() => settle(outcome.refused), waitMs);
  impatience.unref();

  function settle(act: () => void): void {
    clearTimeout(impatience);
    socket.off('readable', look);
    socket.off('close', leave);
    socket.off('end', refuse);
    act();
  }
  const leave = () => settle(() => undefined);
  const refuse = () => settle(outcome.refused);

  function look(): void {
    const more: unknown = socket.read();
    // null: only the end is left to read, which 'end' reports.
    if (!Buffer.isBuffer(more)) return;
    head = head.length === 0 ? more : Buffer.concat([head, more]);
    const header = readProxyHeader(head.subarray(0, proxyHeaderBytesMax));
    if (header.kind === 'cut off') return;
    if (header.kind === 'malformed') {
      refuse();
      return;
    }
    const rest = header.kind === 'whole' ? head.subarray(header.end) : head;
    settle(() => {
      if (rest.length > 0) socket.unshift(rest);
      outcome.arrived(header.kind === 'whole' ? header.address : undefined);
    });
  }

  socket.on('readable', look);
  socket.on('close', leave);
  socket.on('end', refuse);
}
