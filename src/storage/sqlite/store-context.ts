import type { DatabaseSync } from 'node:sqlite';
import type { DamagedRows } from '../damaged-rows.ts';
import type { Writer } from './writer.ts';

/** The parts that every store of the engine is made of. */
export interface StoreContext {
  readonly reader: DatabaseSync;
  readonly writer: Writer;
  readonly damaged: DamagedRows;
}
