import type { SessionStore } from '../../domain/messaging/session-store.ts';
import { loadAll } from '../sql/load-sessions.ts';
import type { SqlReader } from '../sql/session.ts';
import { packChanges } from '../sql/session-row.ts';
import type { StoreContext } from './writer.ts';

/** MQTT sessions in SQLite: read once, at start, and from then on written only. */
export function createSessionStore(
  { writer, damaged }: StoreContext,
  reader: SqlReader,
): SessionStore {
  return {
    load: () => loadAll(reader, damaged),
    apply(changes) {
      const packed = packChanges(changes);
      return writer.callTransfer('applySessionChanges', [packed.buffer], packed.changes);
    },
  };
}
