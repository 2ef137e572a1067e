import Type from 'typebox';
import type { Usage } from '../../domain/budgets/usage.ts';
import type { ServiceState } from '../../domain/service-state.ts';
import { ServiceMessage, serviceToWire } from '../../wire/service.ts';
import { BudgetMessage, budgetToWire } from '../../wire/usage.ts';
import { json } from '../answer.ts';
import { defineRoute, messageAnswer, type Route } from '../route.ts';

/** What administrators see of the service as a whole. */
export function adminRoutes(usage: Usage, serviceState: ServiceState): readonly Route[] {
  return [
    defineRoute({
      method: 'GET',
      path: '/admin/usage',
      tag: 'Administration',
      summary: 'See what is used of every budget, and by whom most (administrators)',
      answer: messageAnswer('Every budget of docs/limits.md.', Type.Array(BudgetMessage)),
      errors: ['unauthenticated', 'forbidden'],
      handle: async ({ actor }) => json((await usage(actor)).map(budgetToWire)),
    }),
    defineRoute({
      method: 'GET',
      path: '/admin/service',
      tag: 'Administration',
      summary: 'See how the service is: its version, its last backup, what failed (administrators)',
      answer: {
        status: 200,
        description: 'The service since its start.',
        content: { 'application/json': ServiceMessage },
      },
      errors: ['unauthenticated', 'forbidden'],
      handle: async ({ actor }) => json(serviceToWire(await serviceState(actor))),
    }),
  ];
}
