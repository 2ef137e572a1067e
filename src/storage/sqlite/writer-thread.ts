import assert from 'node:assert/strict';
import { dirname } from 'node:path';
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads';
import { boundThreadMemory, saveThreadMemoryWhileIdle } from '../../lib/idle-memory.ts';
import { createBackgroundRenewal } from './background-renewal.ts';
import { openConnection } from './connection.ts';
import { hasRoom, refusalOfWrite } from './failures.ts';
import { createSpaceKeeper } from './space-keeper.ts';
import { sqliteLimits } from './sqlite-limits.ts';
import type { WriterAnswer, WriterReport, WriterRequest, WriterSetup } from './writer.ts';
import { createWrites, type Writes } from './writes.ts';

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
const renewal =
  setup.renewal === undefined
    ? undefined
    : createBackgroundRenewal({
        database,
        chunks: setup.renewal,
        tell: (report) => port.postMessage({ renewal: report } satisfies WriterReport),
        onWritten: () => space.touch(),
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
    renewal?.touch();
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

type Call = NonNullable<WriterRequest>;

/**
 * Runs calls in one transaction and answers each; the answers hold once this resolves. What it
 * awaits waits for no event: no message comes before it is done.
 */
type RunBatch = (calls: readonly Call[]) => Promise<WriterAnswer[]>;

/** Whether the disk has space for a commit; asked after one has failed. */
type HasCapacity = () => boolean;

/** Runs many calls in one commit, in which a failing call undoes only itself. */
export function createRunBatch(
  database: DatabaseSync,
  writes: Writes,
  hasRoom: HasCapacity,
): RunBatch {
  const statements = prepare(database);
  const context: BatchContext = { database, writes, statements, hasRoom };

  return async (calls) => {
    try {
      statements.begin.run();
      const answers: WriterAnswer[] = [];
      for (const call of calls) answers.push(await runCall(context, call, calls.length));
      if (database.isTransaction) statements.commit.run();
      return answers;
    } catch (error) {
      // Nothing of this commit was kept, so no call of it may be answered otherwise.
      if (database.isTransaction) statements.rollback.run();
      return calls.map((call) => failed(call, error, hasRoom));
    }
  };
}

interface BatchContext {
  readonly database: DatabaseSync;
  readonly writes: Writes;
  readonly statements: Statements;
  readonly hasRoom: HasCapacity;
}

async function runCall(
  context: BatchContext,
  call: Call,
  callCount: number,
): Promise<WriterAnswer> {
  const { database, writes, statements, hasRoom } = context;
  // A call that is alone needs no savepoint: undoing it is undoing the transaction.
  const isAlone = callCount === 1;
  if (!isAlone) statements.savepoint.run();
  try {
    const value: unknown = await Reflect.apply(writes[call.name], undefined, call.args);
    if (!isAlone) statements.release.run();
    return { id: call.id, kind: 'done', value };
  } catch (error) {
    // A full or failing disk may have undone the whole transaction already.
    if (isAlone || !database.isTransaction) throw error;
    statements.undo.run();
    statements.release.run();
    return failed(call, error, hasRoom);
  }
}

function failed(call: Call, error: unknown, hasRoom: HasCapacity): WriterAnswer {
  const refusal = refusalOfWrite(error, hasRoom);
  if (refusal !== undefined) return { id: call.id, kind: 'refused', refusal };
  return error instanceof Error
    ? { id: call.id, kind: 'bug', message: `${call.name}: ${error.message}`, stack: error.stack }
    : { id: call.id, kind: 'bug', message: `${call.name}: ${String(error)}`, stack: undefined };
}

interface Statements {
  readonly begin: StatementSync;
  readonly commit: StatementSync;
  readonly rollback: StatementSync;
  readonly savepoint: StatementSync;
  readonly release: StatementSync;
  readonly undo: StatementSync;
}

function prepare(database: DatabaseSync): Statements {
  return {
    begin: database.prepare('begin immediate'),
    commit: database.prepare('commit'),
    rollback: database.prepare('rollback'),
    savepoint: database.prepare('savepoint one_call'),
    release: database.prepare('release one_call'),
    undo: database.prepare('rollback to one_call'),
  };
}
