import type { ChunkLimits } from '../chunks/chunk-store.ts';
import type { RenewalReport } from './background-renewal.ts';
import type { WriteRefusal } from './failures.ts';
import type { WriteName } from './writes.ts';

/** The options that the writer thread is started with. */
export interface WriterSetup {
  readonly path: string;
  readonly pagesMax?: number;
  /** How chunks are renewed in the background; absent: they are not. */
  readonly renewal?: ChunkLimits;
}

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

/** News of work that the thread does without a call. */
export interface WriterNews {
  readonly renewal: RenewalReport;
}

/** ready: the database is open. Else the answers of one commit, all at once, or news. */
export type WriterReport = 'ready' | readonly WriterAnswer[] | WriterNews;

/** Whether it is no answer. */
export const isNews = (report: readonly WriterAnswer[] | WriterNews): report is WriterNews =>
  'renewal' in report;
