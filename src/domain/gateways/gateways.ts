import type { Clock, Instant } from '../../lib/clock.ts';
import type { JsonValue } from '../../lib/json.ts';
import { createKeyedSequence } from '../../lib/scheduling/payer-queues.ts';
import type { GrantStore } from '../access/grant.ts';
import { acceptorOf, handingOver, knowsOffer } from '../access/handing-over.ts';
import { type Access, byRight, requireCreation } from '../access/policy.ts';
import type { Resource } from '../access/scopes.ts';
import { createViewer, type Viewer, type VisibleTo, within } from '../access/viewer.ts';
import { type Actor, usernameOf } from '../actor.ts';
import { createGuestShares, makeWithin } from '../budgets/guest-shares.ts';
import type { Device, DeviceChanges } from '../devices/device.ts';
import { conflict, invalid, notFound } from '../errors.ts';
import { type GatewayId, guestUsername, type Username } from '../ids.ts';
import { limits } from '../limits.ts';
import type { Listing, ListPart } from '../listing.ts';
import type { UserStore } from '../users/user.ts';

type LikeDevice = 'owner' | 'visibility' | 'name' | 'location' | 'offeredTo';

/** A relay that pushes for devices and was declared as such. */
export interface Gateway extends Pick<Device, LikeDevice | 'createdAt' | 'modifiedAt'> {
  readonly id: GatewayId;
  /** The JSON object of the last heartbeat that had one. */
  readonly status?: JsonValue;
  /** When its last heartbeat came; absent: never. */
  readonly lastSeenAt?: Instant;
}

/** Fields that a PUT may set; one set to undefined is removed. */
export type GatewayChanges = Pick<DeviceChanges, LikeDevice>;
type GatewayListing = Listing<'gateways', Gateway>;

/** Where gateways are kept. Lists are in order of creation. */
export interface GatewayStore {
  insert(gateway: Gateway): Promise<'inserted' | 'duplicate'>;
  find(id: GatewayId): Promise<Gateway | undefined>;
  list(page: ListPart & { readonly visibleTo: VisibleTo }): Promise<GatewayListing>;
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

/** Fields that a client gives for a new gateway. */
export type NewGateway = Pick<Gateway, 'id' | 'visibility' | 'name' | 'location'>;

/** The gateway as the policy sees it. */
export function gatewayResource({ id, owner, visibility }: Gateway): Resource {
  return { kind: 'gateway', id, owner, ...(visibility !== undefined && { visibility }) };
}

/** The gateway with this id. Throws not_found. */
export async function requireGateway(store: GatewayStore, id: GatewayId): Promise<Gateway> {
  const gateway = await store.find(id);
  if (gateway === undefined) throw noGateway(id);
  return gateway;
}

const noGateway = (id: GatewayId) => notFound(`there is no gateway with id ${id}`);

/** Whether it waits to be accepted is for its owner and the receiver. */
function shownTo(actor: Actor, gateway: Gateway): Gateway {
  if (gateway.offeredTo === undefined || knowsOffer(actor, gateway)) return gateway;
  const { offeredTo: _, ...shown } = gateway;
  return shown;
}

/** Gateways, with the rights of [contract 4]. */
export function createGateways(options: {
  readonly store: GatewayStore;
  readonly users: UserStore;
  readonly grants: Pick<GrantStore, 'listReaching' | 'find' | 'put' | 'remove'>;
  readonly access: Access;
  readonly clock: Clock;
}) {
  const { store, grants, access, clock } = options;
  const shares = createGuestShares();
  const inTurn = createKeyedSequence();
  const requireRight = byRight(access, store, requireGateway, gatewayResource);

  async function change(id: GatewayId, changes: GatewayChanges): Promise<void> {
    if ((await store.update(id, changes, clock.now())) === 'missing') throw noGateway(id);
  }

  const viewerOf = (actor: Actor): Promise<Viewer> =>
    createViewer({ actor, kind: 'gateway', grants, settings: access.settings });

  return {
    /** Declares a gateway; without a token it belongs to the guest and is public. */
    async create(actor: Actor, gateway: NewGateway): Promise<void> {
      requireCreation(actor, 'gateways:update');
      const taken = () => conflict(`the gateway id ${gateway.id} is taken`);
      // Many clients declare their gateway at each start: a conflict is answered at the limit, too.
      if ((await store.find(gateway.id)) !== undefined) throw taken();
      const now = clock.now();
      const made: Gateway = {
        ...gateway,
        ...(actor.kind === 'guest' && { visibility: 'public' }),
        ...{ owner: usernameOf(actor), createdAt: now, modifiedAt: now },
      };
      const { guestGatewaysMax: max, gatewaysPerUserMax: each } = limits;
      const room = { shares, what: 'gateways', max, each, store };
      const outcome = await makeWithin(room, actor, () => store.insert(made));
      if (outcome === 'duplicate') throw taken();
    },
    /** The gateway, if the actor may view it. Throws not_found, forbidden. */
    get: async (actor: Actor, id: GatewayId) =>
      shownTo(actor, await requireRight(actor, 'gateways:view', id)),
    async list(actor: Actor, page: ListPart): Promise<GatewayListing> {
      const { visibleTo } = await viewerOf(actor);
      const { gateways, total } = await store.list({ ...page, visibleTo });
      return { gateways: gateways.map((gateway) => shownTo(actor, gateway)), total };
    },
    /** Gateways of these ids that exist and the actor may view, in order of creation. */
    async getMany(actor: Actor, ids: readonly GatewayId[]): Promise<readonly Gateway[]> {
      if (ids.length === 0) return [];
      const visibleTo = within((await viewerOf(actor)).visibleTo, ids);
      const { gateways } = await store.list({ visibleTo, limit: ids.length, offset: 0 });
      return gateways.map((gateway) => shownTo(actor, gateway));
    },
    async update(actor: Actor, id: GatewayId, changes: GatewayChanges): Promise<void> {
      const gateway = await requireRight(actor, 'gateways:update', id);
      if (changes.visibility === 'private' && gateway.owner === guestUsername) {
        throw invalid('a gateway without an owner is always public: set its owner first');
      }
      await change(id, changes);
    },
    /** Offers the gateway to another user, or takes it back; admins hand it over at once. */
    handOver: (actor: Actor, id: GatewayId, owner: Username) =>
      inTurn(id, async () => {
        const { offeredTo, ...gateway } = await requireGateway(store, id);
        const resource = gatewayResource(gateway);
        // The store ends the grants in the same step.
        await change(id, await handingOver(options, actor, { resource, offeredTo }, owner));
      }),
    /** Takes what was offered to the actor. */
    accept: (actor: Actor, id: GatewayId) =>
      inTurn(id, async () => {
        const { offeredTo, ...gateway } = await requireGateway(store, id);
        const owner = acceptorOf(access, actor, { resource: gatewayResource(gateway), offeredTo });
        if (owner !== undefined) await change(id, { owner, offeredTo: undefined });
      }),
    /** Records a sign of life, for those who may update the gateway; durable when it resolves. */
    async heartbeat(actor: Actor, id: GatewayId, status?: JsonValue): Promise<void> {
      await requireRight(actor, 'gateways:update', id);
      const beat = { at: clock.now(), ...(status !== undefined && { status }) };
      if ((await store.heartbeat(id, beat)) === 'missing') throw noGateway(id);
    },
    async remove(actor: Actor, id: GatewayId): Promise<void> {
      await requireRight(actor, 'gateways:delete', id);
      if ((await store.remove(id)) === 'missing') throw noGateway(id);
    },
  };
}
export type Gateways = ReturnType<typeof createGateways>;
