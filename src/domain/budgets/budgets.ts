import type { Actor } from '../actor.ts';
import { forbidden } from '../errors.ts';
import type { UserId, Username } from '../ids.ts';
import { Budget, type BudgetRule, createWaitingBudget, isGuestPayer } from './budget.ts';
import { type BudgetName, budgetTable } from './budget-table.ts';

/** Totals other than those of the table, by name; quotas change in proportion. */
export type BudgetTotals = Readonly<Partial<Record<BudgetName, number>>>;
const names = Object.keys(budgetTable) as readonly BudgetName[];

/** Whether a text is the name of a budget. */
export const isBudgetName = (name: string): name is BudgetName => Object.hasOwn(budgetTable, name);

/** All budgets of one service. */
export function createBudgets(totals: BudgetTotals = {}) {
  const budgets = new Map(
    names.map((name) => [name, new Budget(name, scaled(budgetTable[name], totals[name]))]),
  );
  const of = (name: BudgetName): Budget => {
    const budget = budgets.get(name);
    if (budget === undefined) throw new Error(`there is no budget ${name}`);
    return budget;
  };
  return {
    of,
    /** The waiting budget of `request_bytes`, over all protocols. */
    waiting: createWaitingBudget(of('request_bytes')),
    /** Usage of every budget, with the `payers` largest payers of each. */
    usage: (payers: number) =>
      [...budgets].map(([name, budget]) => ({
        name,
        unit: budget.rule.unit,
        used: budget.used,
        total: budget.rule.total,
        guests: budget.usedByGuests,
        refusals: budget.refusals,
        largest: budget.largest(payers),
      })),
  };
}
export type Budgets = ReturnType<typeof createBudgets>;
/** Usage of one budget, and its largest payers. */
export type BudgetUsage = ReturnType<Budgets['usage']>[number];

function scaled(rule: BudgetRule, total: number | undefined): BudgetRule {
  if (total === undefined) return rule;
  const share = (part: number): number => Math.floor((part / rule.total) * total);
  return {
    ...rule,
    total,
    perAccount: share(rule.perAccount),
    perAddress: share(rule.perAddress),
    guests: share(rule.guests),
  };
}

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
