import type { MovedRow, MovedTable } from './tables.ts';

/** How far a table was read: what its engine goes on from. */
export type Mark = readonly (string | number)[];

/** Some rows of a table. */
export interface MovedPage {
  readonly rows: readonly MovedRow[];
  /** Where the next page begins; undefined: this is the last one. */
  readonly next: Mark | undefined;
}

/** An installation that is read from; no process writes it meanwhile. */
export interface MoveSource {
  /** Says which it is, so that a move that broke off goes on with the same; it has no password. */
  readonly name: string;
  /** The secret of the installation. */
  secret(): Promise<string>;
  /** How many datapoints there are. */
  datapoints(): Promise<number>;
  /** How many rows a table has. */
  count(table: MovedTable): Promise<number>;
  /** Rows after a mark, in an order of the engine's own. */
  page(table: MovedTable, after: Mark | undefined): Promise<MovedPage>;
  close(): Promise<void>;
}

/** Where an installation is moved to; no service starts on it before the move has ended. */
export interface MoveTarget extends Pick<MoveSource, 'count' | 'page'> {
  /** How far a table is, from a move from the same source that broke off. */
  progress(table: MovedTable): Promise<'none' | 'done' | Mark>;
  /** Adds a page, and remembers with it how far the table is, in one commit. */
  put(table: MovedTable, page: MovedPage): Promise<void>;
  /** Everything is there and was compared: a service may start on it. */
  finish(secret: string): Promise<void>;
  /** Closes the target; pages that were put stay, for a move that goes on from there. */
  close(): Promise<void>;
}
