import type { Instant } from '../../lib/clock.ts';
import { invalid } from '../errors.ts';
import type { Username } from '../ids.ts';

/** Kind of a thing that can be owned and shared. */
export type ResourceKind = 'device' | 'gateway' | 'project';

/** Facts of a device, gateway or project that the policy needs. */
export interface Resource {
  readonly kind: ResourceKind;
  readonly id: string;
  readonly owner: Username;
  /** Absent counts as public; a project has none and is private to owner and grantees. */
  readonly visibility?: 'public' | 'private';
  /** Of a device. */
  readonly createdAt?: Instant;
}

/** The scopes of each kind, in the order the API reports them [contract 4]. */
export const scopesOf = {
  device: [
    'devices:update',
    'devices:view',
    'devices:delete',
    'devices-data:create',
    'devices-data:view',
  ],
  gateway: ['gateways:update', 'gateways:view', 'gateways:delete'],
  project: ['projects:update', 'projects:view', 'projects:delete'],
} as const;

export type Scope = (typeof scopesOf)[ResourceKind][number];

/**
 * Scopes that a grant may give. A grant on a project also gives rights on the devices and gateways
 * in it: those of its own words, and any that are named [decision 0013].
 */
export const grantableOn: Readonly<Record<ResourceKind, readonly Scope[]>> = {
  device: scopesOf.device,
  gateway: scopesOf.gateway,
  project: [...scopesOf.project, ...scopesOf.device, ...scopesOf.gateway],
};

// "With the same rights": who may view the project may view what is in it, its values included.
const givenByProject = new Map<Scope, readonly Scope[]>([
  ['projects:view', ['devices:view', 'devices-data:view', 'gateways:view']],
  ['projects:update', ['devices:update', 'gateways:update']],
  ['projects:delete', ['devices:delete', 'gateways:delete']],
]);

/** Rights on a thing of this kind, from grants on it and on projects that reach it. */
export function scopesReaching(kind: ResourceKind, granted: readonly Scope[]): readonly Scope[] {
  if (granted.length === 0) return granted;
  const given = new Set(granted);
  for (const scope of granted) {
    for (const further of givenByProject.get(scope) ?? []) given.add(further);
  }
  // Any grant lets its holder see the thing itself [contract 4].
  given.add(viewScopeOf[kind]);
  return scopesOf[kind].filter((scope) => given.has(scope));
}

export const viewScopeOf = {
  device: 'devices:view',
  gateway: 'gateways:view',
  project: 'projects:view',
} as const satisfies Record<ResourceKind, Scope>;

const allScopes: readonly Scope[] = [...scopesOf.device, ...scopesOf.gateway, ...scopesOf.project];

// "device:view" is the right's name in the specification's text, "devices:view" the scope's.
const spellings = new Map<string, Scope>(
  allScopes.flatMap((scope) => [
    [scope, scope],
    [scope.replace(/^(device|gateway|project)s/, '$1'), scope],
  ]),
);

/** Reads a right or scope in either spelling; refuses one that the kind does not have. */
export function parseScope(text: string, kind?: ResourceKind): Scope {
  const scope = spellings.get(text);
  const known = kind === undefined ? allScopes : grantableOn[kind];
  if (scope === undefined || !known.includes(scope)) {
    throw invalid(`unknown right ${JSON.stringify(text)}: use ${known.join(', ')}`);
  }
  return scope;
}
