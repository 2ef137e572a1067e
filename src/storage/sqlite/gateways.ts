import type { DatabaseSync } from 'node:sqlite';
import type { GatewayChanges } from '../../domain/gateways/gateway.ts';
import type { GatewayStore } from '../../domain/gateways/gateway-store.ts';
import type { DamagedRows } from '../damaged-rows.ts';
import {
  type GatewayRow,
  gatewayColumns,
  gatewayFromRow,
  gatewayToRow,
} from '../sql/gateway-row.ts';
import { patchOf } from '../sql/patch.ts';
import { readSafely } from './failures.ts';
import type { GatewayUpdate } from './gateway-writes.ts';
import { createResourceListing } from './resource-listing.ts';
import { createSelection } from './selection.ts';
import type { Writer } from './writer.ts';

const selectGateway = `select ${gatewayColumns} from gateways where id = ?`;
const countOwned = 'select count(*) as n from gateways where owner = ?';

/** Gateways in SQLite. A heartbeat is one small update in the next group commit. */
export function createGatewayStore(options: {
  readonly reader: DatabaseSync;
  readonly writer: Writer;
  readonly damaged: DamagedRows;
}): GatewayStore {
  const { reader, writer, damaged } = options;
  const gateway = createSelection<GatewayRow>(reader, selectGateway);
  const owned = createSelection<{ n: number }>(reader, countOwned);
  const columns = gatewayColumns;
  const list = createResourceListing<GatewayRow>(reader, { kind: 'gateway', columns });

  const read = (row: GatewayRow) => damaged.read('gateways', row.id, () => gatewayFromRow(row));

  return {
    insert: (created) => writer.call('insertGateway', gatewayToRow(created)),
    find: (id) =>
      readSafely(() => {
        const row = gateway.first(id);
        return row && read(row);
      }),
    list: (page) =>
      readSafely(() => {
        const { rows, total } = list(page);
        return { gateways: rows.flatMap((row) => read(row) ?? []), total };
      }),
    countOwnedBy: (owner) => readSafely(() => owned.first(owner)?.n ?? 0),
    update: (id, changes, at) => writer.call('updateGateway', id, updateOf(changes), at),
    heartbeat: (id, { at, status }) =>
      writer.call('recordHeartbeat', id, at, status === undefined ? null : JSON.stringify(status)),
    remove: (id) => writer.call('removeGateway', id),
  };
}

function updateOf(changes: GatewayChanges): GatewayUpdate {
  const { owner, visibility, ...details } = changes;
  return {
    ...(owner !== undefined && { owner }),
    ...('visibility' in changes && { visibility: visibility ?? null }),
    details: patchOf(details),
  };
}
