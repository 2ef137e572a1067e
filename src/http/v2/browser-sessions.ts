import Type from 'typebox';
import type { SessionRecord } from '../../domain/users/credential-store.ts';
import type { Sessions } from '../../domain/users/sessions.ts';
import { done, json } from '../answer.ts';
import { defineRoute, type Route } from '../route.ts';

const tag = 'Authentication';

const SessionMessage = Type.Object({
  id: Type.String(),
  name: Type.String({ description: 'What the browser calls itself.' }),
  last_used: Type.String({ format: 'date-time' }),
  address: Type.String({ description: 'Where it was used last.' }),
});

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
        content: { 'application/json': Type.Array(SessionMessage) },
      },
      errors: ['unauthenticated', 'forbidden'],
      handle: async ({ actor }) => json((await sessions.list(actor)).map(toWire)),
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

function toWire({ id, name, lastUsedAt, address }: SessionRecord) {
  return { id, name, last_used: new Date(lastUsedAt).toISOString(), address };
}
