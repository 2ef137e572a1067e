import type { DamagedRows } from '../damaged-rows.ts';
import type { Reader } from './reader.ts';
import type { Writer } from './writer.ts';

/** What every store of the engine is made of. */
export interface StoreContext {
  readonly reader: Reader;
  readonly writer: Writer;
  readonly damaged: DamagedRows;
}
