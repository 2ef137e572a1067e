import type { DamagedRows } from '../damaged-rows.ts';
import { gatewayWrites } from './gateways.ts';
import { groupWrites } from './groups.ts';
import { invitationWrites } from './invitations.ts';
import type { ReachingSql } from './list-conditions.ts';
import { projectWrites } from './projects.ts';
import type { SqlReader, SqlSession } from './session.ts';
import { socialWrites } from './socials.ts';

/**
 * Changes of the stores that both engines share, by name. Each runs in the transaction of a group
 * commit: it throws to undo its own changes, and never begins or commits. Arguments and answers can
 * be sent to another thread.
 */
export const sqlWrites = {
  ...gatewayWrites,
  ...groupWrites,
  ...invitationWrites,
  ...projectWrites,
  ...socialWrites,
};

type SqlWrites = typeof sqlWrites;
export type SqlWriteName = keyof SqlWrites;
/** The arguments of a change, after its session. */
export type SqlWriteArguments<Name extends SqlWriteName> =
  Parameters<SqlWrites[Name]> extends [SqlSession, ...infer Rest] ? Rest : never;
export type SqlWriteAnswer<Name extends SqlWriteName> = Awaited<ReturnType<SqlWrites[Name]>>;

/** Everything that a shared store is made of. */
export interface SqlContext {
  readonly reader: SqlReader;
  /** Carries a change out; resolves when its commit is synced to disk. */
  write<Name extends SqlWriteName>(
    name: Name,
    ...args: SqlWriteArguments<Name>
  ): Promise<SqlWriteAnswer<Name>>;
  readonly damaged: DamagedRows;
  readonly reachingSql: ReachingSql;
}

/** Runs a change in a session; the arguments are those of its name. */
export const runWrite = <Answer>(
  name: SqlWriteName,
  session: SqlSession,
  args: readonly unknown[],
): Promise<Answer> => Reflect.apply(sqlWrites[name], undefined, [session, ...args]);
