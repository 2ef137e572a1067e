import type { DatabaseSync } from 'node:sqlite';
import { type GatewayRow, gatewayColumns } from '../sql/gateway-row.ts';
import { applyPatch, type ResourcePatch } from '../sql/patch.ts';
import { createSelection, insertInto } from './selection.ts';

type StoredGateway = Pick<GatewayRow, 'owner' | 'visibility' | 'details'>;

const insertGateway = `${insertInto('gateways', gatewayColumns)} on conflict do nothing`;
const selectGateway = 'select owner, visibility, details from gateways where id = ?';
const updateGateway = `
  update gateways set owner = ?, visibility = ?, details = ?, modified_at = ? where id = ?`;
const recordHeartbeat = `
  update gateways
  set last_seen_at = max(coalesce(last_seen_at, ?1), ?1), status = coalesce(?2, status)
  where id = ?3`;
const deleteGateway = 'delete from gateways where id = ?';
const deleteGrantsOn = `delete from grants where kind = 'gateway' and resource = ?`;

/** What the writer thread does to gateways. */
export function createGatewayWrites(database: DatabaseSync) {
  const gateway = createSelection<StoredGateway>(database, selectGateway);
  const insert = database.prepare(insertGateway);
  const update = database.prepare(updateGateway);
  const beat = database.prepare(recordHeartbeat);
  const remove = database.prepare(deleteGateway);
  const removeGrants = database.prepare(deleteGrantsOn);

  return {
    insertGateway: (row: GatewayRow): 'inserted' | 'duplicate' =>
      insert.run({ ...row }).changes === 0 ? 'duplicate' : 'inserted',
    updateGateway(id: string, changes: ResourcePatch, at: number): 'updated' | 'missing' {
      const stored = gateway.first(id);
      if (stored === undefined) return 'missing';
      const visibility = changes.visibility === undefined ? stored.visibility : changes.visibility;
      const details = applyPatch(stored.details, changes.details);
      const owner = changes.owner ?? stored.owner;
      if (owner.toLowerCase() !== stored.owner.toLowerCase()) removeGrants.run(id);
      update.run(owner, visibility, details, at, id);
      return 'updated';
    },
    recordHeartbeat: (id: string, at: number, status: string | null): 'recorded' | 'missing' =>
      beat.run(at, status, id).changes === 0 ? 'missing' : 'recorded',
    removeGateway(id: string): 'removed' | 'missing' {
      removeGrants.run(id);
      return remove.run(id).changes === 0 ? 'missing' : 'removed';
    },
  };
}
