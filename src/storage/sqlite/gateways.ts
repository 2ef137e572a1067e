import type { GatewayStore } from '../../domain/gateways/gateway-store.ts';
import {
  type GatewayRow,
  gatewayColumns,
  gatewayFromRow,
  gatewayToRow,
} from '../sql/gateway-row.ts';
import { resourcePatchOf } from '../sql/patch.ts';
import { readSafely } from './failures.ts';
import { createResourceListing } from './resource-listing.ts';
import { createSelection, found } from './selection.ts';
import type { StoreContext } from './store-context.ts';

const selectGateway = `select ${gatewayColumns} from gateways where id = ?`;
const countOwned = 'select count(*) as n from gateways where owner = ?';

/** Gateways in SQLite. A heartbeat is one small update in the next group commit. */
export function createGatewayStore({ reader, writer, damaged }: StoreContext): GatewayStore {
  const gateway = createSelection<GatewayRow>(reader, selectGateway);
  const owned = createSelection<{ n: number }>(reader, countOwned);
  const list = createResourceListing<GatewayRow>(reader, 'gateway', gatewayColumns);

  const read = (row: GatewayRow) => damaged.read('gateways', row.id, () => gatewayFromRow(row));

  return {
    insert: (created) => writer.call('insertGateway', gatewayToRow(created)),
    find: (id) => readSafely(() => found(gateway.first(id), read)),
    list: (page) =>
      readSafely(() => {
        const { rows, total } = list(page);
        return { gateways: rows.flatMap((row) => read(row) ?? []), total };
      }),
    countOwnedBy: (owner) => readSafely(() => owned.first(owner)?.n ?? 0),
    update: (id, changes, at) => writer.call('updateGateway', id, resourcePatchOf(changes), at),
    heartbeat: (id, { at, status }) =>
      writer.call('recordHeartbeat', id, at, status === undefined ? null : JSON.stringify(status)),
    remove: (id) => writer.call('removeGateway', id),
  };
}
