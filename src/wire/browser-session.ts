import Type from 'typebox';
import type { SessionRecord } from '../domain/users/credential-store.ts';
import type { Wire } from './fields.ts';

export const BrowserSessionMessage = Type.Object({
  id: Type.String(),
  name: Type.String({ description: 'What the browser calls itself.' }),
  last_used: Type.String({ format: 'date-time' }),
  address: Type.String({ description: 'Where it was used last.' }),
});

export function browserSessionToWire(session: SessionRecord): Wire<typeof BrowserSessionMessage> {
  const { id, name, lastUsedAt, address } = session;
  return { id, name, last_used: new Date(lastUsedAt).toISOString(), address };
}
