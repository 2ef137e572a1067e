import assert from 'node:assert/strict';
import { dirname } from 'node:path';
import { parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads';
import { boundThreadMemory, saveThreadMemoryWhileIdle } from '../../lib/idle-memory.ts';
import { createBackgroundRenewal } from './background-renewal.ts';
import { openConnection } from './connection.ts';
import { hasRoom } from './session.ts';
import { createSpaceKeeper } from './space-keeper.ts';
import { sqliteLimits } from './sqlite-limits.ts';
import type { WriterReport, WriterSetup } from './writer.ts';
import { createRunBatch, createWrites, type WriterRequest, type Writes } from './writes.ts';

// The entry of the writer thread, so this file works at import. It takes every call that waits,
// runs them in one transaction, and answers them together: group commit for all of the service.

assert(parentPort !== null, 'the writer runs as a worker thread');
const port = parentPort;
const setup = workerData as WriterSetup;
const database = openConnection(setup.path, {
  role: 'write',
  ...(setup.pagesMax === undefined ? {} : { pagesMax: setup.pagesMax }),
});
const runBatch = createRunBatch(database, createWrites(database), () =>
  hasRoom(dirname(setup.path)),
);
const space = createSpaceKeeper(database, setup.path);
let calledAt = Number.NEGATIVE_INFINITY;
const renewal =
  setup.renewal === undefined
    ? undefined
    : createBackgroundRenewal({
        database,
        chunks: setup.renewal,
        tell: (report) => port.postMessage({ renewal: report } satisfies WriterReport),
        onWritten: () => space.touch(),
        calledAt: () => calledAt,
      });

port.on('message', (first: WriterRequest) => {
  const calls: NonNullable<WriterRequest>[] = [];
  let request: WriterRequest | undefined = first;
  while (request !== undefined && request !== null) {
    calls.push(request);
    request =
      calls.length < sqliteLimits.callsPerCommitMax
        ? (receiveMessageOnPort(port)?.message as WriterRequest | undefined)
        : undefined;
  }
  void carryOut(calls, request === null);
});

async function carryOut(
  calls: readonly NonNullable<WriterRequest>[],
  isLast: boolean,
): Promise<void> {
  if (calls.length > 0) {
    port.postMessage((await runBatch(calls)) satisfies WriterReport);
    for (const call of calls) freeDatapoints(call);
    space.touch();
    calledAt = performance.now();
  }
  if (!isLast) return;
  space.stop();
  renewal?.stop();
  database.close();
  port.close();
}

port.postMessage('ready' satisfies WriterReport);
// The pages that it remembers, up to 16 MB of them.
saveThreadMemoryWhileIdle(() => database.exec('pragma shrink_memory'));
boundThreadMemory(sqliteLimits.writerExternalGrowthMax);

/**
 * Frees the bytes of datapoints that were handed over. This thread makes few objects and collects
 * them rarely: under a bulk load tens of megabytes waited for that.
 */
function freeDatapoints({ name, args }: NonNullable<WriterRequest>): void {
  if (name === 'appendDatapoints') {
    const [pushes] = args as Parameters<Writes['appendDatapoints']>;
    pushes.buffer.transfer(0);
  } else if (name === 'flushDatapoints') {
    const [order] = args as Parameters<Writes['flushDatapoints']>;
    order.pushes.buffer.transfer(0);
    order.lasts.buffer.transfer(0);
  }
}
