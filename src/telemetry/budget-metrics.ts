import type { BudgetUsage } from '../domain/budgets/budgets.ts';
import type { Meters } from './meters.ts';

/** Adds what is used of each budget, and how often one was full; read when they are asked for. */
export function addBudgetMetrics({ watched }: Meters, read: () => readonly BudgetUsage[]): void {
  watched(
    'gauge',
    'kipimo_budget_used',
    {
      help: 'What is used of a budget, in its unit, by everybody and by guests.',
      labels: ['budget', 'unit', 'by'],
    },
    () =>
      read().flatMap(({ name: budget, unit, used, guests }) => [
        [used, { budget, unit, by: 'all' }],
        [guests, { budget, unit, by: 'guests' }],
      ]),
  );
  watched(
    'gauge',
    'kipimo_budget_size',
    { help: 'The room of a budget, in its unit.', labels: ['budget', 'unit'] },
    () => read().map(({ name: budget, unit, total }) => [total, { budget, unit }]),
  );
  watched(
    'count',
    'kipimo_budget_refusals_total',
    { help: 'How often a budget had no room, since the start.', labels: ['budget'] },
    () => read().map(({ name: budget, refusals }) => [refusals, { budget }]),
  );
}
