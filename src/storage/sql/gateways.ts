import type { GatewayStore } from '../../domain/gateways/gateway-store.ts';
import type { SqlContext } from './context.ts';
import { type GatewayRow, gatewayColumns, gatewayFromRow, gatewayToRow } from './gateway-row.ts';
import { applyPatch, type ResourcePatch, resourcePatchOf } from './patch.ts';
import { createResourceListing } from './resource-listing.ts';
import { type Count, found, insertRow, type SqlSession } from './session.ts';

const selectGateway = `select ${gatewayColumns} from gateways where id = $1`;
const countOwned = 'select count(*) as n from gateways where nocase(owner) = nocase($1)';
const changeGateway = `
  update gateways set owner = $1, visibility = $2, details = $3, modified_at = $4 where id = $5`;
const recordHeartbeat = `
  update gateways
  set last_seen_at = case when last_seen_at > $1 then last_seen_at else $1 end,
    status = coalesce($2, status)
  where id = $3`;
const deleteGateway = 'delete from gateways where id = $1';
const deleteGrants = ['grants', 'group_grants'].map(
  (table) => `delete from ${table} where kind = 'gateway' and resource = $1`,
);

/** Changes of gateways. */
export const gatewayWrites = {
  async insertGateway(session: SqlSession, row: GatewayRow): Promise<'inserted' | 'duplicate'> {
    const suffix = 'on conflict do nothing';
    const made = await insertRow(session, 'gateways', gatewayColumns, { ...row }, suffix);
    return made === 0 ? 'duplicate' : 'inserted';
  },
  async updateGateway(
    session: SqlSession,
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
      for (const sql of deleteGrants) await session.run(sql, id);
    }
    await session.run(changeGateway, owner, visibility, details, at, id);
    return 'updated';
  },
  /** Makes one small update in the next group commit. */
  recordHeartbeat: async (
    session: SqlSession,
    id: string,
    at: number,
    status: string | null,
  ): Promise<'recorded' | 'missing'> =>
    (await session.run(recordHeartbeat, at, status, id)) === 0 ? 'missing' : 'recorded',
  async removeGateway(session: SqlSession, id: string): Promise<'removed' | 'missing'> {
    for (const sql of deleteGrants) await session.run(sql, id);
    return (await session.run(deleteGateway, id)) === 0 ? 'missing' : 'removed';
  },
};

/** Gateways in the tables of either engine. */
export function createGatewayStore(context: SqlContext<typeof gatewayWrites>): GatewayStore {
  const { reader, write, damaged } = context;
  const list = createResourceListing<GatewayRow>(context, 'gateway', gatewayColumns);
  const read = (row: GatewayRow) => damaged.read('gateways', row.id, () => gatewayFromRow(row));

  return {
    insert: (created) => write('insertGateway', gatewayToRow(created)),
    find: async (id) => found(await reader.first<GatewayRow>(selectGateway, id), read),
    async list(page) {
      const { rows, total } = await list(page);
      return { gateways: rows.flatMap((row) => read(row) ?? []), total };
    },
    countOwnedBy: async (owner) => (await reader.first<Count>(countOwned, owner))?.n ?? 0,
    update: (id, changes, at) => write('updateGateway', id, resourcePatchOf(changes), at),
    heartbeat: (id, { at, status }) =>
      write('recordHeartbeat', id, at, status === undefined ? null : JSON.stringify(status)),
    remove: (id) => write('removeGateway', id),
  };
}
