/** The rights on a device, in the order in which the API reports them [contract 4]. */
export const deviceScopes = [
  'devices:update',
  'devices:view',
  'devices:delete',
  'devices-data:create',
  'devices-data:view',
] as const;

export type DeviceScope = (typeof deviceScopes)[number];

/** Who asks, as the matrix of rights tells them apart. */
export interface Asker {
  readonly name: string;
  /** The account behind the token or key; absent for the guest. */
  readonly username?: string;
  readonly isAdmin?: boolean;
  /** What was granted to the account on every device that has an owner. */
  readonly granted?: readonly DeviceScope[];
  /** By which way it was granted; absent: to the account itself, on the device itself. */
  readonly by?: 'group' | 'project';
  /** Set when it comes with an access key; absent lists narrow nothing. */
  readonly key?: { readonly scopes?: readonly DeviceScope[]; readonly devices?: readonly string[] };
}

/** A device, as far as rights depend on it. */
export interface Subject {
  readonly id: string;
  readonly owner: string;
  readonly isPrivate: boolean;
}

export type PublicPush = 'open' | 'granted';

/**
 * What the asker may do with the device: the table and the sentences of [contract 4] once more,
 * written down for tests without a look at the service's own policy.
 */
export function rightsOn(
  asker: Asker,
  device: Subject,
  publicPush: PublicPush,
): readonly DeviceScope[] {
  const { key } = asker;
  const account = rightsOfAccount(asker, device, publicPush);
  return deviceScopes.filter((scope) => {
    if (key?.devices !== undefined && !key.devices.includes(device.id)) return false;
    if (key?.scopes !== undefined && !key.scopes.includes(scope)) return false;
    return account.has(scope);
  });
}

function rightsOfAccount(
  asker: Asker,
  device: Subject,
  publicPush: PublicPush,
): ReadonlySet<DeviceScope> {
  const isEverybodys = device.owner === 'guest';
  if (isEverybodys || asker.isAdmin === true || asker.username === device.owner) {
    return new Set(deviceScopes);
  }
  const rights = new Set<DeviceScope>(asker.granted);
  if (rights.size > 0) rights.add('devices:view');
  if (!device.isPrivate) {
    rights.add('devices:view');
    rights.add('devices-data:view');
    if (publicPush === 'open') rights.add('devices-data:create');
  }
  return rights;
}

/**
 * The asker as one who looks at actuators: a key that may push sees what they are set to, as far as
 * its account may [contract 15].
 */
export function lookingAtActuators(asker: Asker): Asker {
  const scopes = asker.key?.scopes;
  if (scopes?.includes('devices-data:create') !== true) return asker;
  const seen = [...scopes, 'devices:view', 'devices-data:view'] as const;
  return { ...asker, key: { ...asker.key, scopes: seen } };
}

/** Whether the asker may share the device or hand it over: its owner or an admin, never a key. */
export function isInCharge(asker: Asker, device: Subject): boolean {
  if (asker.key !== undefined) return false;
  return asker.isAdmin === true || asker.username === device.owner;
}

/** Whether the asker gave a password itself: neither the guest nor a key. */
export function isPerson(asker: Asker): boolean {
  return asker.username !== undefined && asker.key === undefined;
}
