// A thread that storages of tests have one after the other: see packed-writer.ts.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { compileFunction } from 'node:vm';
import * as threads from 'node:worker_threads';

/** The port and the setup of a storage. */
export interface Loan {
  readonly port: threads.MessagePort;
  readonly setup: unknown;
}

const file = process.env['TEST_WRITER'] ?? '';
const program = compileFunction(readFileSync(file, 'utf8'), ['require', 'module', 'exports'], {
  filename: file,
});
const load = createRequire(import.meta.url);

threads.parentPort?.on('message', ({ port, setup }: Loan) => {
  const ofLoan = { ...threads, parentPort: port, workerData: setup };
  const loadForLoan = (name: string): unknown =>
    name === 'node:worker_threads' ? ofLoan : load(name);
  // The program ends by closing it.
  port.on('close', () => threads.parentPort?.postMessage('free'));
  const exports = {};
  program(loadForLoan, { exports }, exports);
});
