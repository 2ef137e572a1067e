import type { Actor } from '../actor.ts';
import { forbidden } from '../errors.ts';
import type { UserId, Username } from '../ids.ts';
import type { Budgets, BudgetUsage } from './budgets.ts';
import { isGuestPayer } from './payer.ts';

/** Usage of a budget by a payer: an account by its username, or guests at an address. */
export interface NamedUsage {
  /** Absent for guests, and for an account that is gone. */
  readonly username?: Username;
  /** The account's id, or the address of the guests. */
  readonly who: string;
  readonly used: number;
}

/** A budget as an administrator sees it. */
export interface BudgetReport extends Omit<BudgetUsage, 'largest'> {
  readonly largest: readonly NamedUsage[];
}

/** Reports the usage and largest payers of every budget. Throws forbidden unless an admin asks. */
export type Usage = (actor: Actor) => Promise<readonly BudgetReport[]>;

export interface UsageOptions {
  readonly budgets: Budgets;
  readonly users: {
    find(id: UserId): Promise<{ readonly username: Username } | undefined>;
  };
}

const payersShown = 10;

export function createUsage({ budgets, users }: UsageOptions): Usage {
  async function named({ payer, used }: BudgetUsage['largest'][number]): Promise<NamedUsage> {
    const who = payer.slice(payer.indexOf('/') + 1);
    if (isGuestPayer(payer)) return { who, used };
    // Payers of accounts are made of parsed ids.
    const user = await users.find(who as UserId);
    return user === undefined ? { who, used } : { username: user.username, who, used };
  }

  return async (actor) => {
    if (actor.kind !== 'admin') throw forbidden('only administrators see who uses what');
    const reports: BudgetReport[] = [];
    for (const usage of budgets.usage(payersShown)) {
      const largest: NamedUsage[] = [];
      for (const payer of usage.largest) largest.push(await named(payer));
      reports.push({ ...usage, largest });
    }
    return reports;
  };
}
