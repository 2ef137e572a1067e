import type { GatewayStore } from '../../domain/gateways/gateway-store.ts';
import { withChanges } from '../../lib/record.ts';
import {
  isVisible,
  type MemoryState,
  removeGateway,
  removeGrantsOn,
  sameUsername,
} from './memory-state.ts';

/** Gateways in memory. */
export function createGatewayStore(state: MemoryState): GatewayStore {
  const { gateways } = state;

  return {
    async insert(gateway) {
      if (gateways.has(gateway.id)) return 'duplicate';
      gateways.set(gateway.id, gateway);
      return 'inserted';
    },
    find: async (id) => gateways.get(id),
    async list({ visibleTo, limit, offset }) {
      const visible = [...gateways.values()].filter((gateway) =>
        isVisible(state, 'gateway', gateway, visibleTo),
      );
      return { gateways: visible.slice(offset, offset + limit), total: visible.length };
    },
    countOwnedBy: async (owner) =>
      [...gateways.values()].filter((gateway) => sameUsername(gateway.owner, owner)).length,
    async update(id, changes, at) {
      const gateway = gateways.get(id);
      if (gateway === undefined) return 'missing';
      const { owner = gateway.owner, ...others } = changes;
      if (!sameUsername(owner, gateway.owner)) removeGrantsOn(state, 'gateway', id);
      gateways.set(id, withChanges(gateway, { ...others, owner, modifiedAt: at }));
      return 'updated';
    },
    async heartbeat(id, { at, status }) {
      const gateway = gateways.get(id);
      if (gateway === undefined) return 'missing';
      const lastSeenAt = Math.max(at, gateway.lastSeenAt ?? at);
      gateways.set(id, { ...gateway, lastSeenAt, ...(status !== undefined && { status }) });
      return 'recorded';
    },
    async remove(id) {
      if (!gateways.has(id)) return 'missing';
      removeGateway(state, id);
      return 'removed';
    },
  };
}
