import type { DatabaseSync } from 'node:sqlite';
import type { SessionChange } from '../../domain/messaging/session-store.ts';
import type { NotificationEngine } from '../sql/firing.ts';
import type { ChangeSession } from '../sql/session.ts';
import { createSessionChanges } from '../sql/session-writes.ts';
import { createSqlWrites, type SqlWriteName } from '../sql/writes.ts';
import { sessionTables } from './own-tables.ts';
import { createSession, refusalOfWrite, type WriteRefusal } from './session.ts';
import { createDatapointWrites, createRetentionStepWrites } from './timeseries/datapoint-writes.ts';

/**
 * Everything the writer thread can do. Each function runs inside the transaction of its group
 * commit: it throws to undo its own changes, and never begins or commits.
 */
export function createWrites(database: DatabaseSync) {
  const session = createSession(database);
  return {
    ...createSharedWrites(session),
    ...createHealthWrites(database),
    ...createDatapointWrites(database),
    ...createRetentionStepWrites(database, session),
  };
}

const upsertState = `
  insert into notification_states (notification, device_id, state)
  select position, $2, $3 from notifications where id = $1
  on conflict (notification, device_id) do update set state = excluded.state`;

/** The steps of notifications in SQLite. */
const notificationEngine: NotificationEngine = {
  saveStates({ send }, changes) {
    for (const { notificationId, deviceId, state } of changes) {
      send(upsertState, notificationId, deviceId, JSON.stringify(state));
    }
  },
};

function createSharedWrites(session: ReturnType<typeof createSession>) {
  const writes = createSqlWrites(notificationEngine);
  const applyTo = createSessionChanges(sessionTables);
  return {
    /** Carries out a change of a store that both engines have. */
    async runShared(name: SqlWriteName, args: readonly unknown[]): Promise<unknown> {
      const ends: Parameters<ChangeSession['atEnd']>[] = [];
      const atEnd: ChangeSession['atEnd'] = (...end) => void ends.push(end);
      const own = [{ ...session, atEnd }, ...args];
      const answer: unknown = await Reflect.apply(writes[name], undefined, own);
      for (const end of ends) await session.run(...end);
      return answer;
    },
    /** Changes MQTT sessions and retained messages. */
    async applySessionChanges(changes: readonly SessionChange[]): Promise<void> {
      await applyTo(session, changes);
    },
  };
}

function createHealthWrites(database: DatabaseSync) {
  const countCheck = database.prepare('update health set checks = checks + 1 where id = 1');
  return {
    /** Proves that a change can be made durable. */
    ping(): void {
      countCheck.run();
    },
  };
}

export type Writes = ReturnType<typeof createWrites>;
export type WriteName = keyof Writes;

/** A call on its way to the thread; null asks it to finish and end. */
export type WriterRequest = null | {
  readonly id: number;
  readonly name: WriteName;
  readonly args: readonly unknown[];
};

/** The outcome of one call. */
export type WriterAnswer =
  | { readonly id: number; readonly kind: 'done'; readonly value: unknown }
  | { readonly id: number; readonly kind: 'refused'; readonly refusal: WriteRefusal }
  | {
      readonly id: number;
      readonly kind: 'bug';
      readonly message: string;
      readonly stack: string | undefined;
    };

type Call = NonNullable<WriterRequest>;

/** Whether the disk has space for a commit; asked after one has failed. */
type HasCapacity = () => boolean;

/**
 * Runs many calls in one commit, in which a failing call undoes only itself, and answers each; the
 * answers hold once this resolves. What it awaits waits for no event: no message comes before.
 */
export function createRunBatch(database: DatabaseSync, writes: Writes, hasRoom: HasCapacity) {
  const statements = prepare(database);
  const context: BatchContext = { database, writes, statements, hasRoom };

  return async (calls: readonly Call[]): Promise<WriterAnswer[]> => {
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
  readonly statements: ReturnType<typeof prepare>;
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

const prepare = (database: DatabaseSync) => ({
  begin: database.prepare('begin immediate'),
  commit: database.prepare('commit'),
  rollback: database.prepare('rollback'),
  savepoint: database.prepare('savepoint one_call'),
  release: database.prepare('release one_call'),
  undo: database.prepare('rollback to one_call'),
});
