import type { Device, MyGrants } from './types.ts';

/** What the screens offer on a device. The service decides; this spares refusals. */
export interface DeviceRights {
  readonly seesData: boolean;
  readonly sends: boolean;
  /** May use its controls: what is public is not everybody's to switch. */
  readonly sets: boolean;
  readonly changes: boolean;
  readonly deletes: boolean;
  readonly shares: boolean;
}

const all: DeviceRights = {
  seesData: true,
  sends: true,
  sets: true,
  changes: true,
  deletes: true,
  shares: true,
};

/** As [contract 4] tells it: owner, admin, what a guest made, what was shared, what is public. */
export function deviceRights(
  device: Pick<Device, 'id' | 'owner' | 'visibility'>,
  who: {
    readonly username: string | undefined;
    readonly isAdmin: boolean;
    readonly grants: MyGrants | undefined;
    /** Whether anybody may push to a public device; absent: anybody may. */
    readonly publicPush?: 'open' | 'granted';
  },
): DeviceRights {
  const { username, isAdmin, grants, publicPush = 'open' } = who;
  if (isAdmin || (username !== undefined && device.owner === username)) return all;
  if (device.owner === 'guest') return { ...all, shares: false };
  const scopes = new Set(
    (grants?.received ?? [])
      .filter(({ kind, resource }) => kind === 'device' && resource === device.id)
      .flatMap((grant) => grant.scopes),
  );
  const isPublic = device.visibility !== 'private';
  return {
    seesData: isPublic || scopes.has('devices-data:view'),
    sends: (isPublic && publicPush === 'open') || scopes.has('devices-data:create'),
    sets: scopes.has('devices-data:create'),
    changes: scopes.has('devices:update'),
    deletes: scopes.has('devices:delete'),
    shares: false,
  };
}

const givenByProject = new Map([
  ['projects:view', ['devices:view', 'devices-data:view']],
  ['projects:update', ['devices:update']],
  ['projects:delete', ['devices:delete']],
]);

/** What a grant on a project gives on the devices in it, as the service reads it. */
export const scopesInProject = (scopes: readonly string[]): readonly string[] =>
  scopes.flatMap((scope) => [scope, ...(givenByProject.get(scope) ?? [])]);
