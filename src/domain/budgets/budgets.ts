import { Budget, type BudgetRule, type PayerUsage } from './budget.ts';
import { type BudgetName, budgetTable } from './budget-table.ts';
import { createWaitingBudget, type WaitingBudget } from './waiting-budget.ts';

/** Usage of one budget, and its largest payers. */
export interface BudgetUsage {
  readonly name: BudgetName;
  readonly unit: BudgetRule['unit'];
  readonly used: number;
  readonly total: number;
  readonly guests: number;
  readonly refusals: number;
  readonly largest: readonly PayerUsage[];
}

/** All budgets of one service. */
export interface Budgets {
  of(name: BudgetName): Budget;
  /** The waiting budget of `request_bytes`, over all protocols. */
  readonly waiting: WaitingBudget;
  /** Usage of every budget, with the `payers` largest payers of each. */
  usage(payers: number): readonly BudgetUsage[];
}

/** Totals other than those of the table, by name; quotas change in proportion. */
export type BudgetTotals = Readonly<Partial<Record<BudgetName, number>>>;

const names = Object.keys(budgetTable) as readonly BudgetName[];

/** Whether a text is the name of a budget. */
export function isBudgetName(name: string): name is BudgetName {
  return Object.hasOwn(budgetTable, name);
}

export function createBudgets(totals: BudgetTotals = {}): Budgets {
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
    waiting: createWaitingBudget(of('request_bytes')),
    usage: (payers) =>
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
