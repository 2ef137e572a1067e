import type { DatabaseSync } from 'node:sqlite';
import type { SessionChange } from '../../domain/messaging/session-store.ts';
import type { ChangeSession } from '../sql/session.ts';
import { createSessionChanges } from '../sql/session-writes.ts';
import { createSqlWrites, runWrite, type SqlWriteName } from '../sql/writes.ts';
import { notificationEngine, sessionTables } from './own-tables.ts';
import { createSession } from './session.ts';
import { createDatapointWrites } from './timeseries/datapoint-writes.ts';
import { createRetentionStepWrites } from './timeseries/retention-steps.ts';

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

function createSharedWrites(session: ReturnType<typeof createSession>) {
  const writes = createSqlWrites(notificationEngine);
  const applyTo = createSessionChanges(sessionTables);
  return {
    /** Carries out a change of a store that both engines have. */
    async runShared(name: SqlWriteName, args: readonly unknown[]): Promise<unknown> {
      const ends: Parameters<ChangeSession['atEnd']>[] = [];
      const atEnd: ChangeSession['atEnd'] = (...end) => void ends.push(end);
      const answer = await runWrite(writes[name], { ...session, atEnd }, args);
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
