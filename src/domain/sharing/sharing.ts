import { type Access, requireAccount } from '../access/access.ts';
import type { Grant, OwnedGrant } from '../access/grant.ts';
import type { GrantStore } from '../access/grant-store.ts';
import type { Resource } from '../access/policy.ts';
import { type ResourceKind, type Scope, scopesOf } from '../access/scopes.ts';
import { createViewer } from '../access/viewer.ts';
import type { Actor } from '../actor.ts';
import type { Device } from '../devices/device.ts';
import type { DeviceStore } from '../devices/device-store.ts';
import { deviceResource } from '../devices/devices.ts';
import { forbidden, invalid, notFound } from '../errors.ts';
import { guestUsername, type Username } from '../ids.ts';
import { limits } from '../limits.ts';
import { requirePerson } from '../users/account-access.ts';
import type { UserStore } from '../users/user-store.ts';

/** What the actor may do with one resource, as /auth/permissions reports it. */
export interface Permission {
  readonly resource: string;
  readonly scopes: readonly Scope[];
}

/** Owners give rights to users, and everybody can ask what rights they have. */
export interface Sharing {
  listGrants(actor: Actor, kind: ResourceKind, id: string): Promise<readonly Grant[]>;
  /** Sets what `username` may do; an empty list revokes. Effective at once. */
  grant(
    actor: Actor,
    kind: ResourceKind,
    id: string,
    to: { username: Username; scopes: readonly Scope[] },
  ): Promise<void>;
  revoke(actor: Actor, kind: ResourceKind, id: string, username: Username): Promise<void>;
  mine(actor: Actor): Promise<{
    readonly given: readonly OwnedGrant[];
    readonly received: readonly OwnedGrant[];
  }>;
  /** Every device on which the actor has a right, in steps of bounded size. */
  devicePermissions(actor: Actor): AsyncIterable<readonly Permission[]>;
}

export function createSharing(options: {
  readonly grants: GrantStore;
  readonly devices: DeviceStore;
  readonly users: UserStore;
  readonly access: Access;
  /** The device, gateway or project with this id. Throws invalid, not_found. */
  readonly findResource: (kind: ResourceKind, id: string) => Promise<Resource>;
}): Sharing {
  const { grants, devices, users, access } = options;

  /** The thing to share, if it is the actor's to share. */
  async function requireShareable(actor: Actor, kind: ResourceKind, id: string): Promise<Resource> {
    requireAccount(actor);
    const resource = await options.findResource(kind, id);
    access.requireOwner(actor, resource);
    // A grant planted while nobody owned it would outlive the day somebody takes it over.
    if (resource.owner === guestUsername) {
      throw forbidden(`this ${kind} has no owner and is everybody's: set its owner first`);
    }
    return resource;
  }

  return {
    async listGrants(actor, kind, id) {
      await requireShareable(actor, kind, id);
      return grants.listOn(kind, id);
    },
    async grant(actor, kind, id, to) {
      const resource = await requireShareable(actor, kind, id);
      const user = await users.findByUsername(to.username);
      if (user === undefined) throw notFound(`there is no user ${to.username}`);
      if (user.username === resource.owner) {
        throw invalid(`${user.username} owns this ${kind} and has every right already`);
      }
      if (to.scopes.length === 0) {
        await grants.remove(kind, id, user.username);
        return;
      }
      const others = (await grants.listOn(kind, id)).filter(
        ({ username }) => username !== user.username,
      );
      if (others.length >= limits.grantsPerResourceMax) {
        throw invalid(`a ${kind} may be shared with ${limits.grantsPerResourceMax} users`);
      }
      const scopes = scopesOf[kind].filter((scope) => to.scopes.includes(scope));
      await grants.put({ kind, resource: id, username: user.username, scopes });
    },
    async revoke(actor, kind, id, username) {
      await requireShareable(actor, kind, id);
      const user = await users.findByUsername(username);
      if (user === undefined) throw notFound(`there is no user ${username}`);
      await grants.remove(kind, id, user.username);
    },
    async mine(actor) {
      const { username } = requirePerson(actor);
      const [given, received] = await Promise.all([
        grants.listGivenBy(username),
        grants.listReceivedBy(username),
      ]);
      return { given, received };
    },
    async *devicePermissions(actor) {
      const { settings } = access;
      const viewer = await createViewer({ actor, kind: 'device', grants, settings });
      for (let offset = 0; ; offset += limits.devicesPerStep) {
        const { devices: step } = await devices.list({
          visibleTo: viewer.concernedWith,
          maySeeValues: () => false,
          limit: limits.devicesPerStep,
          offset,
        });
        yield permissionsOf(step, (device) => viewer.effective(deviceResource(device)));
        if (step.length < limits.devicesPerStep) return;
      }
    },
  };
}

function permissionsOf(
  devices: readonly Device[],
  effective: (device: Device) => readonly Scope[],
): readonly Permission[] {
  return devices
    .map((device) => ({ resource: device.id, scopes: effective(device) }))
    .filter(({ scopes }) => scopes.length > 0);
}
