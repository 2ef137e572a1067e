import Type from 'typebox';
import type { Usage } from '../../domain/budgets/usage.ts';
import { BudgetMessage, budgetToWire } from '../../wire/usage.ts';
import { json } from '../answer.ts';
import { defineRoute, type Route } from '../route.ts';

/** What administrators see of the service as a whole. */
export function adminRoutes(usage: Usage): readonly Route[] {
  return [
    defineRoute({
      method: 'GET',
      path: '/admin/usage',
      tag: 'Administration',
      summary: 'See what is used of every budget, and by whom most (administrators)',
      answer: {
        status: 200,
        description: 'Every budget of docs/limits.md.',
        content: { 'application/json': Type.Array(BudgetMessage) },
      },
      errors: ['unauthenticated', 'forbidden'],
      handle: async ({ actor }) => json((await usage(actor)).map(budgetToWire)),
    }),
  ];
}
