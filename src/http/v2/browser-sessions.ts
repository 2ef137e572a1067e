import Type from 'typebox';
import type { Sessions } from '../../domain/users/sessions.ts';
import { BrowserSessionMessage, browserSessionToWire } from '../../wire/browser-session.ts';
import { json } from '../answer.ts';
import { defineCommand, defineRoute, messageAnswer, type Route } from '../route.ts';

const tag = 'Authentication';

/** The browsers in which one stays logged in [contract 13]. */
export function browserSessionRoutes(sessions: Sessions): readonly Route[] {
  return [
    defineRoute({
      method: 'GET',
      path: '/auth/sessions',
      tag,
      summary: 'List the browsers in which you stay logged in, those used last first',
      answer: messageAnswer('Your browsers.', Type.Array(BrowserSessionMessage)),
      errors: ['unauthenticated', 'forbidden'],
      handle: async ({ actor }) => json((await sessions.list(actor)).map(browserSessionToWire)),
    }),
    defineCommand({
      method: 'DELETE',
      path: '/auth/sessions/:session_id',
      tag,
      summary: 'Log one of your browsers out; its tokens end as well',
      done: 'Logged out.',
      errors: ['unauthenticated', 'forbidden', 'not_found'],
      perform: ({ actor, params }) => sessions.remove(actor, params['session_id'] ?? ''),
    }),
  ];
}
