import type { SessionKey } from '../../domain/messaging/message.ts';
import type { SessionStore } from '../../domain/messaging/session-store.ts';
import { loadRetained, loadSessions } from '../sql/load-sessions.ts';
import { tellOthers } from './feed-log.ts';
import { applySessionChanges } from './session-writes.ts';
import { createSharedSessions } from './shared-sessions.ts';
import type { StoreContext } from './store-context.ts';
import { indexKey } from './text.ts';

/**
 * MQTT sessions in PostgreSQL: read once, and from then on written only. A process that is alone
 * reads all at its start; one of several those that it claims.
 */
export function createSessionStore(
  { reader, writer, damaged }: StoreContext,
  own: number | undefined,
): SessionStore {
  if (own === undefined) {
    return {
      load: () =>
        reader.inSnapshot(async (session) => ({
          sessions: (await loadSessions(session, damaged)).map(({ session: one }) => one),
          retained: await loadRetained(session, damaged),
        })),
      async apply(changes) {
        await writer.call((tx) => applySessionChanges(tx, changes));
      },
    };
  }
  const fenced = new Set<(keys: readonly SessionKey[]) => void>();
  return {
    load: async () => ({ sessions: [], retained: await loadRetained(reader, damaged) }),
    async apply(changes, notes = []) {
      const { refused, isGivenBack } = await writer.call(async (tx) => {
        const applied = await applySessionChanges(tx, changes, own);
        tellOthers(
          tx,
          notes.map((text) => ({ text })),
        );
        return applied;
      });
      if (refused.length > 0 || isGivenBack) for (const listener of fenced) listener(refused);
    },
    shared: {
      ...createSharedSessions({ reader, writer, damaged, own }),
      retained: (topics) => loadRetained(reader, damaged, topics.map(indexKey)),
      onFenced: (listener) => void fenced.add(listener),
    },
  };
}
