import type { Gateway, GatewayStore } from '../../domain/gateways/gateways.ts';
import { type ResourcePatch, resourcePatchOf } from './patch.ts';
import { patchingOf, removalOf, resourceReads } from './resources.ts';
import { insertRow, type SqlContext, type Writes } from './session.ts';
import { createTable, type Row } from './table.ts';

/** The table gateways. */
export const gatewayTable = createTable<Gateway>('gateways', {
  plain: ['id', 'owner', 'visibility', 'lastSeenAt', 'createdAt', 'modifiedAt'],
  json: ['status'],
});

const changeGateway = `
  update gateways set owner = $1, visibility = $2, details = $3, modified_at = $4 where id = $5`;
const recordHeartbeat = `
  update gateways
  set last_seen_at = case when last_seen_at > $1 then last_seen_at else $1 end,
    status = coalesce($2, status)
  where id = $3`;
const patched = patchingOf('gateway');

/** Changes of gateways. */
export const gatewayWrites = {
  insertGateway: async (session, row: Row) =>
    (await insertRow(session, 'gateways', row, 'on conflict do nothing')) === 0
      ? 'duplicate'
      : 'inserted',

  async updateGateway(session, id: string, changes: ResourcePatch, at: number) {
    const row = await patched(session, id, changes);
    if (row === undefined) return 'missing';
    await session.run(changeGateway, row.owner, row.visibility, row.details, at, id);
    return 'updated';
  },

  /** Makes one small update in the next group commit. */
  recordHeartbeat: async (session, id: string, at: number, status: string | null) =>
    (await session.run(recordHeartbeat, at, status, id)) === 0 ? 'missing' : 'recorded',

  removeGateway: removalOf('gateway'),
} satisfies Writes;

/** Gateways in the tables of either engine. */
export function createGatewayStore(context: SqlContext<typeof gatewayWrites>): GatewayStore {
  const { write } = context;
  const { list, ...reads } = resourceReads(context, 'gateway', gatewayTable);
  return {
    ...reads,
    insert: (created) => write('insertGateway', gatewayTable.toRow(created)),
    async list(page) {
      const { things: gateways, total } = await list(page);
      return { gateways, total };
    },
    update: (id, changes, at) => write('updateGateway', id, resourcePatchOf(changes), at),
    heartbeat: (id, { at, status }) =>
      write('recordHeartbeat', id, at, status === undefined ? null : JSON.stringify(status)),
    remove: (id) => write('removeGateway', id),
  };
}
