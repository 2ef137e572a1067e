import type { Socket } from 'node:net';
import { limits } from '../domain/limits.ts';
import { countFor, holdForLogin } from '../lib/connection-guard.ts';
import type { Broker } from './broker.ts';
import type { Transport } from './transport.ts';

/** Joins a TCP or TLS socket to the broker; `first` was read from it already. */
export function attachSocket(options: {
  readonly broker: Broker;
  readonly socket: Socket;
  readonly address: string;
  readonly first?: Uint8Array;
}): void {
  const { broker, socket, address, first } = options;
  const transport = socketTransport(socket);
  const receiver = broker.accept(transport, address);
  socket.setNoDelay(true);
  socket.on('data', (chunk: Buffer) => receiver.receive(chunk));
  socket.on('drain', () => receiver.drained());
  // Sockets of HTTP stay half open by themselves: a client that left would count as connected.
  socket.on('end', () => transport.end());
  // Errors need no handling here: 'close' follows.
  socket.on('error', () => undefined);
  socket.on('close', () => receiver.closed());
  if (first !== undefined) receiver.receive(first);
}

function socketTransport(socket: Socket): Transport {
  let isEnding = false;
  return {
    write(bytes) {
      if (!isEnding && socket.writable) socket.write(bytes);
    },
    get bufferedBytes() {
      return socket.writableLength;
    },
    end() {
      if (isEnding) return;
      isEnding = true;
      socket.end();
      // A peer that neither reads nor closes would keep the socket open.
      const impatience = setTimeout(() => socket.destroy(), limits.goodbyeMs);
      impatience.unref();
      socket.once('close', () => clearTimeout(impatience));
    },
    destroy: () => {
      socket.destroy();
    },
    pause: () => {
      socket.pause();
    },
    resume: () => {
      socket.resume();
    },
    countFor: (payer) => countFor(socket, payer),
    holdForLogin: () => holdForLogin(socket),
  };
}
