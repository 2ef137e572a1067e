import Type from 'typebox';
import {
  BudgetMessage,
  budgetToWire,
  readSettingsChange,
  ServiceMessage,
  SettingsMessage,
  serviceToWire,
  settingsToWire,
} from '../../wire/service.ts';
import { json } from '../answer.ts';
import { messageBody } from '../body.ts';
import { messageAnswer, type Route, routesOf } from '../route.ts';
import type { Services } from './services.ts';

const route = routesOf('Administration');

/** Routes for administrators, on the service as a whole. */
export function adminRoutes({ usage, serviceState, settings }: Services): readonly Route[] {
  return [
    route.get('/admin/usage', {
      summary: 'See what is used of every budget, and by whom most (administrators)',
      answer: messageAnswer('Every budget of docs/limits.md.', Type.Array(BudgetMessage)),
      handle: async ({ actor }) => json((await usage(actor)).map(budgetToWire)),
    }),
    route.get('/admin/service', {
      summary: 'See how the service is: its version, its last backup, what failed (administrators)',
      answer: messageAnswer('The service since its start.', ServiceMessage),
      handle: async ({ actor }) => json(serviceToWire(await serviceState(actor))),
    }),
    route.get('/admin/settings', {
      summary: 'See what administrators set while the service runs (administrators)',
      answer: messageAnswer('What holds now, and who says so.', SettingsMessage),
      handle: async ({ actor }) => json(settingsToWire(settings.read(actor))),
    }),
    route.put('/admin/settings', {
      summary: 'Open or close sign-up, at once and for later starts (administrators)',
      body: messageBody(readSettingsChange),
      done: 'Kept, and in force.',
      perform: ({ actor, body }) => settings.change(actor, body),
    }),
  ];
}
