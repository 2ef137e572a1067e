import type { Instant } from '../../lib/clock.ts';
import type { JsonValue } from '../../lib/json.ts';
import type { VisibleTo } from '../access/viewer.ts';
import type { GatewayId, Username } from '../ids.ts';
import type { Gateway, GatewayChanges } from './gateway.ts';

export interface GatewayListing {
  readonly gateways: readonly Gateway[];
  /** Number of all that match, whatever the page. */
  readonly total: number;
}

/** Where gateways are kept. Lists are in order of creation. */
export interface GatewayStore {
  insert(gateway: Gateway): Promise<'inserted' | 'duplicate'>;
  find(id: GatewayId): Promise<Gateway | undefined>;
  list(page: { visibleTo: VisibleTo; limit: number; offset: number }): Promise<GatewayListing>;
  countOwnedBy(owner: Username): Promise<number>;
  update(id: GatewayId, changes: GatewayChanges, at: Instant): Promise<'updated' | 'missing'>;
  /** Sets when it was seen last, never to an earlier time; without a status the last one stays. */
  heartbeat(
    id: GatewayId,
    beat: { readonly at: Instant; readonly status?: JsonValue },
  ): Promise<'recorded' | 'missing'>;
  /** Removes the gateway with its grants, in one step; devices that name it stay. */
  remove(id: GatewayId): Promise<'removed' | 'missing'>;
}
