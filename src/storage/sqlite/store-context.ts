import type { DatabaseSync } from 'node:sqlite';
import type { DamagedRows } from '../damaged-rows.ts';
import type { AnswerOf, SqlContext } from '../sql/session.ts';
import type { SqlWrites } from '../sql/writes.ts';
import { createReader } from './session.ts';
import type { Writer } from './writer.ts';

/** The parts that every store of the engine is made of. */
export interface StoreContext {
  readonly reader: DatabaseSync;
  readonly writer: Writer;
  readonly damaged: DamagedRows;
}

/** The parts of stores that both engines have. */
export const sharedContext = ({
  reader,
  writer,
  damaged,
}: StoreContext): SqlContext<SqlWrites> => ({
  reader: createReader(reader),
  // The thread answers what the change of this name answers.
  write: (name, ...args) =>
    writer.call('runShared', name, args) as Promise<AnswerOf<SqlWrites, typeof name>>,
  damaged,
});
