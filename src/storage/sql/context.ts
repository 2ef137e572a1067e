import type { DamagedRows } from '../damaged-rows.ts';
import type { ChangeSession, SqlReader } from './session.ts';

/**
 * A change of what is stored, by its name among those of a store. It runs in the transaction of a
 * group commit: it throws to undo its own changes, and never begins or commits. Its arguments and
 * its answer can be sent to another thread.
 */
type Change = (session: ChangeSession, ...args: never[]) => Promise<unknown>;

type ArgumentsOf<Changes, Name extends keyof Changes> = Changes[Name] extends (
  session: ChangeSession,
  ...args: infer Arguments
) => Promise<unknown>
  ? Arguments
  : never;

/** The answer of a change. */
export type AnswerOf<Changes, Name extends keyof Changes> = Changes[Name] extends (
  ...args: never[]
) => Promise<infer Answer>
  ? Answer
  : never;

/** Everything that a store of both engines is made of. */
export interface SqlContext<Changes extends Readonly<Record<string, Change>>> {
  readonly reader: SqlReader;
  /** Carries a change out; resolves when its commit is synced to disk. */
  write<Name extends keyof Changes>(
    name: Name,
    ...args: ArgumentsOf<Changes, Name>
  ): Promise<AnswerOf<Changes, Name>>;
  readonly damaged: DamagedRows;
}
