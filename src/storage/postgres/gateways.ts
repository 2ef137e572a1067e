import type { GatewayStore } from '../../domain/gateways/gateway-store.ts';
import {
  type GatewayRow,
  gatewayColumns,
  gatewayFromRow,
  gatewayToRow,
} from '../sql/gateway-row.ts';
import { applyPatch, type ResourcePatch, resourcePatchOf } from '../sql/patch.ts';
import { found, insertRow, type Session } from './connection.ts';
import { createResourceListing } from './resource-listing.ts';
import type { StoreContext } from './store-context.ts';

const selectGateway = `select ${gatewayColumns} from gateways where id = $1`;
const countOwned = 'select count(*) as n from gateways where nocase(owner) = nocase($1)';
const changeGateway = `
  update gateways set owner = $1, visibility = $2, details = $3, modified_at = $4 where id = $5`;
const recordHeartbeat = `
  update gateways
  set last_seen_at = greatest(last_seen_at, $1::bigint), status = coalesce($2, status)
  where id = $3`;
const deleteGateway = 'delete from gateways where id = $1';
const deleteGrantsOn = ['grants', 'group_grants'].map(
  (table) => `delete from ${table} where kind = 'gateway' and resource = $1`,
);

/** Gateways in PostgreSQL. A heartbeat is one small update in the next group commit. */
export function createGatewayStore({ reader, writer, damaged }: StoreContext): GatewayStore {
  const list = createResourceListing<GatewayRow>(reader, 'gateway', gatewayColumns);
  const read = (row: GatewayRow) => damaged.read('gateways', row.id, () => gatewayFromRow(row));

  return {
    insert: (created) =>
      writer.call(async (tx) => {
        const row = { ...gatewayToRow(created) };
        const suffix = 'on conflict do nothing';
        const made = await insertRow(tx, 'gateways', gatewayColumns, row, suffix);
        return made === 0 ? 'duplicate' : 'inserted';
      }),
    find: async (id) => found(await reader.first<GatewayRow>(selectGateway, id), read),
    async list(page) {
      const { rows, total } = await list(page);
      return { gateways: rows.flatMap((row) => read(row) ?? []), total };
    },
    countOwnedBy: async (owner) => (await reader.first<{ n: number }>(countOwned, owner))?.n ?? 0,
    update: (id, changes, at) =>
      writer.call((tx) => updateGateway(tx, id, resourcePatchOf(changes), at)),
    heartbeat: (id, { at, status }) =>
      writer.call(async (tx) => {
        const text = status === undefined ? null : JSON.stringify(status);
        return (await tx.run(recordHeartbeat, at, text, id)) === 0 ? 'missing' : 'recorded';
      }),
    remove: (id) =>
      writer.call(async (tx) => {
        for (const part of deleteGrantsOn) await tx.run(part, id);
        return (await tx.run(deleteGateway, id)) === 0 ? 'missing' : 'removed';
      }),
  };
}

async function updateGateway(
  session: Session,
  id: string,
  changes: ResourcePatch,
  at: number,
): Promise<'updated' | 'missing'> {
  const stored = await session.first<GatewayRow>(selectGateway, id);
  if (stored === undefined) return 'missing';
  const visibility = changes.visibility === undefined ? stored.visibility : changes.visibility;
  const details = applyPatch(stored.details, changes.details);
  const owner = changes.owner ?? stored.owner;
  if (owner.toLowerCase() !== stored.owner.toLowerCase()) {
    for (const part of deleteGrantsOn) await session.run(part, id);
  }
  await session.run(changeGateway, owner, visibility, details, at, id);
  return 'updated';
}
