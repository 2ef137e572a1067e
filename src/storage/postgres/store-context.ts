import type { DamagedRows } from '../damaged-rows.ts';
import type { SqlContext } from '../sql/session.ts';
import { runWrite, type SqlWrites } from '../sql/writes.ts';
import type { Reader } from './reader.ts';
import { createSharedWrites } from './shared-writes.ts';
import type { Writer } from './writer.ts';

/** The parts that every store of the engine is made of. */
export interface StoreContext {
  readonly reader: Reader;
  readonly writer: Writer;
  readonly damaged: DamagedRows;
}

/** Of stores that hand out what one process alone has to do. */
export interface ClaimContext extends StoreContext {
  /** The number of this process among those that serve the database. */
  readonly member: number;
}

/** The parts of stores that both engines use; a command has no number. */
export function sharedContext({
  reader,
  writer,
  damaged,
  member,
}: StoreContext & Partial<ClaimContext>): SqlContext<SqlWrites> {
  const writes = createSharedWrites(member);
  return {
    ...{ reader, damaged },
    write: (name, ...args) => writer.call((session) => runWrite(writes[name], session, args)),
  };
}
