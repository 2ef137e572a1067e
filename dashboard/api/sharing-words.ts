export type SharedKind = 'device' | 'gateway' | 'project';

/** What may be granted on a thing, in the order of the switches. */
export const grantable: Readonly<Record<SharedKind, readonly string[]>> = {
  device: [
    'devices:view',
    'devices-data:view',
    'devices-data:create',
    'devices:update',
    'devices:delete',
  ],
  gateway: ['gateways:view', 'gateways:update', 'gateways:delete'],
  // On a project all reach what is in it, too.
  project: ['projects:view', 'devices-data:create', 'projects:update', 'projects:delete'],
};

/** What somebody is granted first: to look. */
export const firstScopes: Readonly<Record<SharedKind, readonly string[]>> = {
  device: ['devices:view', 'devices-data:view'],
  gateway: ['gateways:view'],
  project: ['projects:view'],
};

/** The word of a scope that texts are named after. */
export type ScopeWord = 'view' | 'data-view' | 'data-create' | 'update' | 'delete';

/** devices-data:create and gateways:update alike. */
export function scopeWord(scope: string): ScopeWord | undefined {
  const [subject = '', verb = ''] = scope.split(':');
  const word = subject.endsWith('-data') ? `data-${verb}` : verb;
  return words.find((known) => known === word);
}

const words: readonly ScopeWord[] = ['view', 'data-view', 'data-create', 'update', 'delete'];

/** What somebody may and may not do, each in the order of the switches. */
export function partScopes(
  scopes: readonly string[],
  ofKind: readonly ScopeWord[] = words,
): { readonly may: readonly ScopeWord[]; readonly mayNot: readonly ScopeWord[] } {
  const given = new Set(scopes.map(scopeWord));
  // Any grant lets its holder see the thing itself [contract 4].
  if (given.size > 0) given.add('view');
  return {
    may: ofKind.filter((word) => given.has(word)),
    mayNot: ofKind.filter((word) => !given.has(word)),
  };
}
