import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** A way to the service that a test can cut at the worst moment. */
export interface BadLine extends AsyncDisposable {
  readonly url: string;
  /** The next answer gets as far as here, and both connections end without it. */
  loseNextAnswer(): void;
  readonly lostCount: number;
}

/** Relays bytes to the service, as the mobile network between a gateway and its cloud. */
export async function openBadLine(serviceUrl: string): Promise<BadLine> {
  const { hostname, port } = new URL(serviceUrl);
  const sockets = new Set<Socket>();
  let isLosing = false;
  let lostCount = 0;

  const server = createServer((near) => {
    const far = connect(Number(port), hostname);
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.on('close', () => sockets.delete(socket));
      // A cut is what this line is for.
      socket.on('error', () => socket.destroy());
    }
    near.pipe(far);
    far.on('data', (chunk) => {
      if (!isLosing) {
        near.write(chunk);
        return;
      }
      isLosing = false;
      lostCount += 1;
      near.destroy();
      far.destroy();
    });
    far.on('close', () => near.destroy());
    near.on('close', () => far.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    loseNextAnswer() {
      isLosing = true;
    },
    get lostCount() {
      return lostCount;
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
