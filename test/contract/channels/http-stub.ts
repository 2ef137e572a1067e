import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

/** How the other side takes what it is sent. */
export type Behaviour =
  | 'accepts'
  | 'throttles'
  | 'fails'
  | 'refuses'
  | 'babbles'
  | 'is-silent'
  | 'floods';

export interface ReceivedRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

export interface StubAnswer {
  readonly status: number;
  readonly json?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A provider on this machine: checks nothing, remembers everything, answers as it is told. */
export interface HttpStub {
  readonly url: string;
  readonly requests: readonly ReceivedRequest[];
  /** Settles when the next request has been read. */
  nextRequest(): Promise<ReceivedRequest>;
  /** Bytes written of answers, as far as the client took them. */
  bytesTaken(): number;
  [Symbol.asyncDispose](): Promise<void>;
}

const floodBytes = 100 * 1_048_576;
const floodChunk = Buffer.alloc(65_536, 'x');

/** Starts a stub; `answer` says what an accepted or refused request gets. */
export async function startHttpStub(options: {
  readonly behaviour: Behaviour;
  readonly answer: (request: ReceivedRequest, behaviour: 'accepts' | 'refuses') => StubAnswer;
  /** With it, HTTPS, as localhost. */
  readonly pair?: { readonly key: string; readonly cert: string };
}): Promise<HttpStub> {
  const { behaviour, answer, pair } = options;
  const requests: ReceivedRequest[] = [];
  const waiting: ((request: ReceivedRequest) => void)[] = [];
  let bytesTaken = 0;

  const onRequest = (request: IncomingMessage, response: ServerResponse) => {
    void text(request).then((body) => {
      const received: ReceivedRequest = {
        method: request.method ?? '',
        path: request.url ?? '',
        headers: request.headers,
        body,
      };
      requests.push(received);
      for (const settle of waiting.splice(0)) settle(received);
      if (behaviour === 'floods') flood(response);
      else if (behaviour !== 'is-silent') {
        const { status, json, headers } = answerFor(behaviour, () =>
          answer(received, behaviour === 'refuses' ? 'refuses' : 'accepts'),
        );
        const sent = json === undefined ? '' : JSON.stringify(json);
        response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(sent);
      }
    });
  };
  const server =
    pair === undefined ? createServer(onRequest) : createTlsServer({ ...pair }, onRequest);
  const closings: Promise<void>[] = [];
  server.on('connection', (socket) => {
    const closing = new Promise<void>((resolve) => {
      socket.once('close', () => {
        bytesTaken += socket.bytesWritten;
        resolve();
      });
    });
    closings.push(closing);
  });
  server.listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: pair === undefined ? `http://127.0.0.1:${port}` : `https://localhost:${port}`,
    requests,
    nextRequest: () => new Promise((resolve) => waiting.push(resolve)),
    bytesTaken: () => bytesTaken,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await Promise.all(closings);
    },
  };
}

function answerFor(behaviour: Behaviour, ask: () => StubAnswer): StubAnswer {
  switch (behaviour) {
    case 'throttles':
      return { status: 429, headers: { 'retry-after': '7' }, json: { title: 'slow down' } };
    case 'fails':
      return { status: 503, json: { message: 'out of order' } };
    case 'babbles':
      return { status: 200, json: ['<html>', 42, null] };
    default:
      return ask();
  }
}

function flood(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'application/json' });
  let left = floodBytes;
  const write = () => {
    while (left > 0 && !response.destroyed) {
      left -= floodChunk.length;
      if (!response.write(floodChunk)) {
        response.once('drain', write);
        return;
      }
    }
    response.end();
  };
  write();
}
