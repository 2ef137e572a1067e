import type { SessionStore } from '../../domain/messaging/session-store.ts';
import { loadRetained, loadSessions } from '../sql/load-sessions.ts';
import type { SqlReader } from '../sql/session.ts';
import { packChanges } from '../sql/session-row.ts';
import type { StoreContext } from './writer.ts';

/** MQTT sessions in SQLite: read once, at start, and from then on written only. */
export function createSessionStore(
  { writer, damaged }: StoreContext,
  reader: SqlReader,
): SessionStore {
  return {
    load: () =>
      reader.inSnapshot(async (session) => ({
        sessions: (await loadSessions(session, damaged)).map(({ session: one }) => one),
        retained: await loadRetained(session, damaged),
      })),
    apply(changes) {
      const packed = packChanges(changes);
      const { buffer } = packed.bytes;
      return writer.callTransfer('applySessionChanges', [buffer], packed.changes, packed.bytes);
    },
  };
}
