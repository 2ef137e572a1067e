import { type AddressInfo, createServer, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import smpp, { type Pdu, type Session } from 'smpp';
import type { Behaviour } from './http-stub.ts';

/** A message centre on this machine, spoken to in real SMPP. */
export interface SmppStub {
  readonly port: number;
  readonly submits: readonly Pdu[];
  readonly binds: readonly Pdu[];
  /** Settles when a PDU of this kind arrives next. */
  next(command: string): Promise<Pdu>;
  /** Ends all sessions, as message centres do at night. */
  dropSessions(): void;
  bytesTaken(): number;
  [Symbol.asyncDispose](): Promise<void>;
}

const floodBytes = 100 * 1_048_576;

/** Starts one; `statusOf` says what the submit with this number (from 0) is answered. */
export async function startSmppStub(options: {
  readonly behaviour?: Behaviour;
  readonly statusOf?: (index: number) => number;
  readonly bindStatus?: number;
  /** With it, TLS from the first byte. */
  readonly pair?: { readonly key: string; readonly cert: string };
}): Promise<SmppStub> {
  const { behaviour = 'accepts', bindStatus = 0 } = options;
  const statusOf = options.statusOf ?? (() => statuses[behaviour] ?? 0);
  const submits: Pdu[] = [];
  const binds: Pdu[] = [];
  const waiting: { command: string; settle: (pdu: Pdu) => void }[] = [];
  const sockets = new Set<Socket>();
  let bytesTaken = 0;

  function onPdu(session: Session, socket: Socket, pdu: Pdu): void {
    if (pdu.command === 'submit_sm') submits.push(pdu);
    for (const one of waiting.filter(({ command }) => command === pdu.command)) {
      waiting.splice(waiting.indexOf(one), 1);
      one.settle(pdu);
    }
    if (pdu.command === 'bind_transmitter') {
      binds.push(pdu);
      session.send(pdu.response({ command_status: bindStatus }));
    } else if (pdu.command === 'submit_sm') {
      answerSubmit({ session, socket, pdu, behaviour, status: statusOf(submits.length - 1) });
    } else if (!pdu.isResponse() && behaviour !== 'is-silent') {
      session.send(pdu.response());
    }
  }

  const onSocket = (socket: Socket) => {
    const session = new smpp.Session({ socket });
    sockets.add(socket);
    socket.once('close', () => {
      sockets.delete(socket);
      bytesTaken += socket.bytesWritten;
    });
    // A client that leaves in the middle of an answer is what some tests are about.
    session.on('error', () => undefined);
    session.on('pdu', (pdu: Pdu) => onPdu(session, socket, pdu));
  };
  const { pair } = options;
  const server =
    pair === undefined ? createServer(onSocket) : createTlsServer({ ...pair }, onSocket);
  server.listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    submits,
    binds,
    next: (command) => new Promise((settle) => waiting.push({ command, settle })),
    dropSessions: () => {
      for (const socket of sockets) socket.destroy();
    },
    bytesTaken: () => bytesTaken,
    async [Symbol.asyncDispose]() {
      server.close();
      await Promise.all(
        [...sockets].map((socket) => {
          const closed = new Promise((resolve) => socket.once('close', resolve));
          socket.destroy();
          return closed;
        }),
      );
    },
  };
}

/** ESME_RTHROTTLED, ESME_RSYSERR, ESME_RINVDSTADR [SMPP 3.4, 5.1.3]. */
const statuses: Partial<Record<Behaviour, number>> = {
  throttles: 0x58,
  fails: 0x08,
  refuses: 0x0b,
};

function answerSubmit(parts: {
  readonly session: Session;
  readonly socket: Socket;
  readonly pdu: Pdu;
  readonly behaviour: Behaviour;
  readonly status: number;
}): void {
  const { session, socket, pdu, behaviour, status } = parts;
  switch (behaviour) {
    case 'is-silent':
      return;
    case 'babbles':
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      return;
    case 'floods':
      flood(socket);
      return;
    default:
      session.send(pdu.response({ command_status: status, message_id: 'm1' }));
  }
}

/** Frames that belong to nothing, without end. */
function flood(socket: Socket): void {
  const frame = Buffer.alloc(16_384);
  frame.writeUInt32BE(frame.length, 0);
  frame.writeUInt32BE(0x80000004, 4);
  let left = floodBytes;
  const write = () => {
    while (left > 0 && !socket.destroyed) {
      left -= frame.length;
      if (!socket.write(frame)) {
        socket.once('drain', write);
        return;
      }
    }
  };
  write();
}
