import Type from 'typebox';
import type { Sessions } from '../../domain/users/sessions.ts';
import { BrowserSessionMessage, browserSessionToWire } from '../../wire/browser-session.ts';
import { done, json } from '../answer.ts';
import { defineRoute, type Route } from '../route.ts';

const tag = 'Authentication';

/** The browsers in which one stays logged in [contract 13]. */
export function browserSessionRoutes(sessions: Sessions): readonly Route[] {
  return [
    defineRoute({
      method: 'GET',
      path: '/auth/sessions',
      tag,
      summary: 'List the browsers in which you stay logged in, those used last first',
      answer: {
        status: 200,
        description: 'Your browsers.',
        content: { 'application/json': Type.Array(BrowserSessionMessage) },
      },
      errors: ['unauthenticated', 'forbidden'],
      handle: async ({ actor }) => json((await sessions.list(actor)).map(browserSessionToWire)),
    }),
    defineRoute({
      method: 'DELETE',
      path: '/auth/sessions/:session_id',
      tag,
      summary: 'Log one of your browsers out; its tokens end as well',
      answer: { status: 204, description: 'Logged out.' },
      errors: ['unauthenticated', 'forbidden', 'not_found'],
      handle: async ({ actor, params }) => {
        await sessions.remove(actor, params['session_id'] ?? '');
        return done;
      },
    }),
  ];
}
