import type { GatewayId } from '../ids.ts';

/** Which gateways are connected right now; kept in memory, as connections are. */
export interface Presence {
  /** A client that is this gateway connected; call the answer once, when it is gone. */
  enter(id: GatewayId): () => void;
  isConnected(id: GatewayId): boolean;
}

/** Without connections at first. Keeps as much as there are of them; they have their own limit. */
export function createPresence(): Presence {
  // Counted: a client that takes over its own session connects before its old connection ends.
  const connections = new Map<GatewayId, number>();

  function leave(id: GatewayId): void {
    const count = (connections.get(id) ?? 0) - 1;
    if (count > 0) connections.set(id, count);
    else connections.delete(id);
  }

  return {
    enter(id) {
      connections.set(id, (connections.get(id) ?? 0) + 1);
      let isHere = true;
      return () => {
        if (isHere) leave(id);
        isHere = false;
      };
    },
    isConnected: (id) => connections.has(id),
  };
}
