import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { refusalOfWrite } from './failures.ts';
import type { WriterAnswer, WriterRequest } from './writer.ts';
import type { Writes } from './writes.ts';

type Call = NonNullable<WriterRequest>;

/**
 * Runs calls in one transaction and answers each; the answers hold once this resolves. What it
 * awaits waits for no event: no message comes before it is done.
 */
export type RunBatch = (calls: readonly Call[]) => Promise<WriterAnswer[]>;

/** Whether the disk has space for a commit; asked after one has failed. */
export type HasCapacity = () => boolean;

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
