import type { SessionKey } from '../../domain/messaging/message.ts';
import type { SessionStore } from '../../domain/messaging/session-store.ts';
import { loadAll, loadRetained } from '../sql/load-sessions.ts';
import { createSessionChanges, type SessionCluster } from '../sql/session-writes.ts';
import { tellOthers } from './feed-log.ts';
import { sessionTables } from './own-tables.ts';
import { createSharedSessions } from './shared-sessions.ts';
import { giveSharesBack, settleShares } from './shares.ts';
import type { StoreContext } from './store-context.ts';
import { indexKey } from './text.ts';

const upsertHeard = `
  insert into mqtt_heard (session, writer, at) values ($1, $2, $3)
  on conflict (session, writer) do update set at = greatest(mqtt_heard.at, excluded.at)`;

const clusterOf = (own: number): SessionCluster => ({
  own,
  settleShare: (session, share, isQueued) =>
    (isQueued ? settleShares : giveSharesBack)(session, own, [share]),
  async noteHeard(session, number, { writer, at }) {
    await session.run(upsertHeard, number, writer, at);
  },
});

/**
 * MQTT sessions in PostgreSQL: read once, and from then on written only. A process that is alone
 * reads all at its start; one of several those that it claims.
 */
export function createSessionStore(
  { reader, writer, damaged }: StoreContext,
  own: number | undefined,
): SessionStore {
  if (own === undefined) {
    const applyTo = createSessionChanges(sessionTables(undefined));
    return {
      load: () => loadAll(reader, damaged),
      async apply(changes) {
        await writer.call((tx) => applyTo(tx, changes));
      },
    };
  }
  const applyTo = createSessionChanges(sessionTables(own), clusterOf(own));
  const fenced = new Set<(keys: readonly SessionKey[]) => void>();
  return {
    load: async () => ({ sessions: [], retained: await loadRetained(reader, damaged) }),
    async apply(changes, notes = []) {
      const { refused, isGivenBack } = await writer.call(async (tx) => {
        const applied = await applyTo(tx, changes);
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
