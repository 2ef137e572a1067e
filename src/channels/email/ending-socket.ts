import { connect, type Socket } from 'node:net';

/** A connection that ends at the signal; what it is used for cannot be called off otherwise. */
export function openSocket(options: {
  readonly host: string;
  readonly port: number;
  readonly signal: AbortSignal;
}): Promise<Socket> {
  const { host, port, signal } = options;
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port });
    const stop = () => socket.destroy();
    // The user of the socket learns of its end; without a listener an error would be thrown.
    socket.on('error', () => undefined);
    signal.addEventListener('abort', stop, { once: true });
    socket.once('close', () => signal.removeEventListener('abort', stop));
    socket.once('error', reject);
    socket.once('close', () => reject(new Error('called off')));
    socket.once('connect', () => {
      socket.off('error', reject);
      resolve(socket);
    });
    if (signal.aborted) stop();
  });
}
