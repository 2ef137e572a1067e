import type { Instant } from '../../lib/clock.ts';
import type { JsonValue } from '../../lib/json.ts';
import type { VisibleTo } from '../access/viewer.ts';
import type { Location, Visibility } from '../devices/device.ts';
import type { GatewayId, UserId, Username } from '../ids.ts';

/** A relay that pushes for devices and was declared as such. */
export interface Gateway {
  readonly id: GatewayId;
  readonly owner: Username;
  /** Absent counts as public [contract 4]. */
  readonly visibility?: Visibility;
  readonly name?: string;
  readonly location?: Location;
  /** Whose it is to be once that account accepts it [contract 15]. */
  readonly offeredTo?: UserId;
  /** The JSON object of the last heartbeat that had one. */
  readonly status?: JsonValue;
  /** When its last heartbeat came; absent: never. */
  readonly lastSeenAt?: Instant;
  readonly createdAt: Instant;
  readonly modifiedAt: Instant;
}

/** Fields that a PUT may set; one set to undefined is removed. */
export interface GatewayChanges {
  readonly owner?: Username;
  readonly visibility?: Visibility | undefined;
  readonly name?: string | undefined;
  readonly location?: Location | undefined;
  readonly offeredTo?: UserId | undefined;
}

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
