import { Gauge, type Registry } from 'prom-client';
import type { BudgetUsage } from '../domain/budgets/budgets.ts';

/** Adds what is used of each budget, and how often one was full; read when they are asked for. */
export function addBudgetMetrics(registry: Registry, read: () => readonly BudgetUsage[]): void {
  const registers = [registry];
  new Gauge({
    name: 'kipimo_budget_used',
    help: 'What is used of a budget, in its unit, by everybody and by guests.',
    labelNames: ['budget', 'unit', 'by'],
    registers,
    collect() {
      for (const { name, unit, used, guests } of read()) {
        this.set({ budget: name, unit, by: 'all' }, used);
        this.set({ budget: name, unit, by: 'guests' }, guests);
      }
    },
  });
  new Gauge({
    name: 'kipimo_budget_total',
    help: 'The room of a budget, in its unit.',
    labelNames: ['budget', 'unit'],
    registers,
    collect() {
      for (const { name, unit, total } of read()) this.set({ budget: name, unit }, total);
    },
  });
  new Gauge({
    name: 'kipimo_budget_refusals_total',
    help: 'How often a budget had no room, since the start.',
    labelNames: ['budget'],
    registers,
    collect() {
      for (const { name, refusals } of read()) this.set({ budget: name }, refusals);
    },
  });
}
