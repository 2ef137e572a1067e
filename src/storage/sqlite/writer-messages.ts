import type { WriteRefusal } from './failures.ts';
import type { WriteName } from './writes.ts';

/** What the writer thread is started with. */
export interface WriterSetup {
  readonly path: string;
  readonly pagesMax?: number;
}

/** One call on its way to the thread; null asks it to finish and end. */
export type WriterRequest = null | {
  readonly id: number;
  readonly name: WriteName;
  readonly args: readonly unknown[];
};

/** What became of one call. */
export type WriterAnswer =
  | { readonly id: number; readonly kind: 'done'; readonly value: unknown }
  | { readonly id: number; readonly kind: 'refused'; readonly refusal: WriteRefusal }
  | {
      readonly id: number;
      readonly kind: 'bug';
      readonly message: string;
      readonly stack: string | undefined;
    };

/** ready: the database is open. Else the answers of one commit, all at once. */
export type WriterReport = 'ready' | readonly WriterAnswer[];
