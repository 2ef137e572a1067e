import { type Plant, patch } from './plant.ts';

const floods = 'test/neighbours/sockets-fast-path.test.ts';
const reader = 'src/http/fast-path/reader.ts';
/** The test sends the same seed each time, and tells it when the two ways differ. */
const differential = {
  file: 'test/fast-path.test.ts',
  test: 'answers, stores and ends connections as the Fastify path does',
  says: /seed \d+/,
};

/** What the fast path may not understand by itself, beside node:http. */
export const plantsOfFastPath: readonly Plant[] = [
  {
    name: 'many pushes at once are handled in slices on the fast path',
    ...{ file: floods, test: '400 connections that push 64 at a time' },
    ...{ says: /healthz waited|honest client's/, servedMs: 2_000 },
    patches: [
      patch(
        'src/http/fast-path/reader.ts',
        'chunk.length > untimedBytesMax ? this.#parts.turns.enter(this.#payer()) : undefined;',
        'undefined as Promise<void> | undefined;',
      ),
    ],
  },
  {
    name: 'many requests at once begin in slices on the Fastify path',
    ...{ file: 'src/http/request-gate.test.ts', test: 'requests that come at once on many' },
    says: /begun - before <= 1/,
    patches: [
      patch(
        'src/http/request-pipeline.ts',
        'const turn = turns.enter(payerOfArrival(this.#socket, this.answer?.req, payerOf));',
        'const turn = undefined as Promise<void> | undefined;',
      ),
    ],
  },
  {
    name: 'the fast path reads no body but of one Content-Length',
    ...differential,
    patches: [patch(reader, "  'traceparent',\n", "  'traceparent',\n  'transfer-encoding',\n")],
  },
  {
    name: 'a header field that is there twice is not for the fast path',
    ...differential,
    patches: [patch(reader, '!harmless.has(key) || headers.has(key)', '!harmless.has(key)')],
  },
  {
    name: 'a connection that is to be closed is not for the fast path',
    ...{ file: 'test/fast-path.test.ts', test: 'the last one on its connection' },
    says: /./,
    patches: [patch(reader, "connection.toLowerCase() !== 'keep-alive'", 'connection.length > 99')],
  },
];
