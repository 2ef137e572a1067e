import type { Visibility } from '../../domain/devices/device.ts';
import type { Gateway } from '../../domain/gateways/gateway.ts';
import type { GatewayId, Username } from '../../domain/ids.ts';
import { parseJson } from '../../lib/json.ts';
import { detailsFrom } from './details.ts';

/** A row of the table gateways. */
export interface GatewayRow {
  readonly id: string;
  readonly owner: string;
  readonly visibility: string | null;
  readonly last_seen_at: number | null;
  readonly status: string | null;
  readonly created_at: number;
  readonly modified_at: number;
  readonly details: string;
}

/** The columns of GatewayRow. */
export const gatewayColumns =
  'id, owner, visibility, last_seen_at, status, created_at, modified_at, details';

type GatewayDetails = Pick<Gateway, 'name' | 'location' | 'offeredTo'>;

export function gatewayToRow(gateway: Gateway): GatewayRow {
  const { id, owner, visibility, lastSeenAt, status, createdAt, modifiedAt, ...details } = gateway;
  return {
    id,
    owner,
    visibility: visibility ?? null,
    last_seen_at: lastSeenAt ?? null,
    status: status === undefined ? null : JSON.stringify(status),
    created_at: createdAt,
    modified_at: modifiedAt,
    details: JSON.stringify(details satisfies GatewayDetails),
  };
}

export function gatewayFromRow(row: GatewayRow): Gateway {
  return {
    // Rows hold what parsed ids and checked enums were written from.
    id: row.id as GatewayId,
    owner: row.owner as Username,
    ...(row.visibility !== null && { visibility: row.visibility as Visibility }),
    ...(row.last_seen_at !== null && { lastSeenAt: row.last_seen_at }),
    ...(row.status !== null && { status: parseJson(row.status) }),
    ...detailsFrom<GatewayDetails>(row.details),
    createdAt: row.created_at,
    modifiedAt: row.modified_at,
  };
}
