import { connect, type Socket } from 'node:net';
import { type MeasuredAnswer, measureAnswer } from './http-answer.ts';

/** One keep-alive connection with at most one request under way. */
export interface LoadConnection {
  /** Sends a request (latin1) and calls `onAnswer` with the status and the raw answer. */
  send(request: string, onAnswer: (status: number, answer: Buffer) => void): void;
  close(): void;
}

const readBytes = 65_536;

/** Opens connections to a port of this machine; `onFailure` hears of the first that breaks. */
export async function openConnections(options: {
  readonly port: number;
  readonly count: number;
  readonly onFailure: (error: Error) => void;
}): Promise<readonly LoadConnection[]> {
  const { port, count, onFailure } = options;
  return Promise.all(Array.from({ length: count }, () => open(port, onFailure)));
}

function open(port: number, onFailure: (error: Error) => void): Promise<LoadConnection> {
  let waiting: ((status: number, answer: Buffer) => void) | undefined;
  /** The start of an answer whose end has not come. */
  let started: Buffer | undefined;

  function receive(count: number, buffer: Buffer): void {
    const fresh = buffer.subarray(0, count);
    const bytes = started === undefined ? fresh : Buffer.concat([started, fresh]);
    const answer = measure(bytes);
    if (answer === undefined) {
      // The buffer is used again for what comes next.
      started = started === undefined ? Buffer.from(bytes) : bytes;
      return;
    }
    const onAnswer = waiting;
    if (onAnswer === undefined || answer.length !== bytes.length) {
      onFailure(new Error('an answer came that nobody asked for'));
      return;
    }
    started = undefined;
    waiting = undefined;
    onAnswer(answer.status, bytes);
  }

  function measure(bytes: Buffer): MeasuredAnswer | undefined {
    try {
      return measureAnswer(bytes);
    } catch (error) {
      onFailure(error instanceof Error ? error : new Error(String(error)));
      return undefined;
    }
  }

  const buffer = Buffer.allocUnsafe(readBytes);
  const socket: Socket = connect({
    port,
    host: '127.0.0.1',
    noDelay: true,
    onread: {
      buffer,
      callback: (count) => {
        receive(count, buffer);
        return true;
      },
    },
  });
  let isClosing = false;
  return new Promise((resolve, reject) => {
    socket.once('error', reject);
    socket.once('close', () => {
      if (!isClosing) onFailure(new Error(`port ${port} closed a connection`));
    });
    socket.once('connect', () => {
      resolve({
        send(request, onAnswer) {
          waiting = onAnswer;
          socket.write(request, 'latin1');
        },
        close() {
          isClosing = true;
          socket.destroy();
        },
      });
    });
  });
}
