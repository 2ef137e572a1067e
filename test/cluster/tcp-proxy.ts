import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/**
 * How a link is. `silent`, `deaf` and `mute` are a network that swallows packets, both ways, those
 * of the far side, or those of the near one: nothing arrives and nobody is told. What was sent
 * meanwhile arrives once the link is open again, as TCP sends it again.
 */
export type LinkState = 'open' | 'cut' | 'silent' | 'deaf' | 'mute';

/** A link of the test: connections to its port go to the port of its target. */
export interface TcpProxy {
  readonly port: number;
  /** From now on for new connections; those that are there end with their target. */
  lead(targetPort: number): void;
  /** Cutting ends all connections, and refuses new ones. */
  set(state: LinkState): void;
  /** Ends all connections; new ones are let in. */
  breakOff(): void;
  /** Milliseconds by which each packet comes later. */
  delay(ms: number): void;
  close(): Promise<void>;
}

interface Pair {
  readonly near: Socket;
  readonly far: Socket;
}

/**
 * Ends a connection at once. A reset is refused while an end is on its way, and Node then never
 * closes the socket, and waits for it at its exit for ever.
 */
function reset(socket: Socket): void {
  if (socket.writableEnded) socket.destroy();
  else socket.resetAndDestroy();
}

/** Opens a link on a free port of 127.0.0.1. */
export async function openProxy(targetPort = 0): Promise<TcpProxy> {
  let target = targetPort;
  let state: LinkState = 'open';
  let delayMs = 0;
  const pairs = new Set<Pair>();
  const doesPass = {
    near: () => state === 'open' || state === 'deaf',
    far: () => state === 'open' || state === 'mute',
  };

  /** Nothing overtakes: what came later waits at least as long, also where the delay is over. */
  function pipe(from: Socket, to: Socket, isOpen: () => boolean): () => void {
    const waiting: { readonly bytes: Buffer | undefined; readonly dueAt: number }[] = [];
    function pass(): void {
      for (let [next] = waiting; next !== undefined; [next] = waiting) {
        const ms = next.dueAt - performance.now();
        if (ms > 0) return void setTimeout(pass, ms);
        waiting.shift();
        if (next.bytes === undefined) to.end();
        else if (!to.destroyed) to.write(next.bytes);
      }
    }
    function passLater(bytes?: Buffer): void {
      const dueAt = Math.max(performance.now() + delayMs, waiting.at(-1)?.dueAt ?? 0);
      waiting.push({ bytes, dueAt });
      if (waiting.length === 1) pass();
    }
    from.on('data', passLater);
    from.on('end', () => passLater());
    const settle = () => void (isOpen() ? from.resume() : from.pause());
    settle();
    return settle;
  }

  const settles = new Map<Pair, () => void>();
  const server = createServer({ allowHalfOpen: true, noDelay: true }, (near) => {
    near.on('error', () => undefined);
    if (state === 'cut' || target === 0) {
      near.resetAndDestroy();
      return;
    }
    const far = connect({ port: target, host: '127.0.0.1', noDelay: true, allowHalfOpen: true });
    far.on('error', () => undefined);
    const pair = { near, far };
    pairs.add(pair);
    const both = [pipe(near, far, doesPass.near), pipe(far, near, doesPass.far)];
    settles.set(pair, () => {
      for (const settle of both) settle();
    });
    const end = () => {
      pairs.delete(pair);
      settles.delete(pair);
      near.destroy();
      far.destroy();
    };
    // Nobody hears of an end through a link that is silent.
    far.once('close', () => (doesPass.far() ? end() : undefined));
    near.once('close', () => (doesPass.near() ? end() : undefined));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');

  function breakOff(): void {
    for (const { near, far } of pairs) {
      reset(near);
      reset(far);
    }
    pairs.clear();
    settles.clear();
  }

  return {
    port: (server.address() as AddressInfo).port,
    lead(port) {
      target = port;
    },
    set(next) {
      state = next;
      if (state === 'cut') breakOff();
      for (const settle of settles.values()) settle();
      for (const { near, far } of state === 'open' ? pairs : []) {
        if (near.destroyed || far.destroyed) {
          near.destroy();
          far.destroy();
        }
      }
    },
    breakOff,
    delay(ms) {
      delayMs = ms;
    },
    async close() {
      breakOff();
      server.close();
      await once(server, 'close');
    },
  };
}
