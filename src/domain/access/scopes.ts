import { invalid } from '../errors.ts';

/** What can be owned and shared. */
export type ResourceKind = 'device' | 'gateway' | 'project';

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
  const known: readonly Scope[] = kind === undefined ? allScopes : scopesOf[kind];
  if (scope === undefined || !known.includes(scope)) {
    throw invalid(`unknown right ${JSON.stringify(text)}: use ${known.join(', ')}`);
  }
  return scope;
}
