import type { Call } from '../service.ts';

export type Kind = 'gateway' | 'project';
export type Right = 'update' | 'view' | 'delete';

/** In the order in which the API reports them [contract 4]. */
export const rights: readonly Right[] = ['update', 'view', 'delete'];

export const scopeOf = (kind: Kind, right: Right): string => `${kind}s:${right}`;

/** Who asks for gateways and projects. */
export interface GroupAsker {
  readonly name: string;
  /** The account behind the token or key; absent for the guest. */
  readonly username?: string;
  readonly isAdmin?: boolean;
  /** What was granted to the account on every thing that has an owner. */
  readonly granted?: readonly Right[];
  /** Set when it comes with an access key; absent lists narrow nothing. */
  readonly key?: { readonly rights?: readonly Right[]; readonly devices?: readonly string[] };
}

/** A gateway or project, as far as rights depend on it. */
export interface GroupSubject {
  readonly kind: Kind;
  readonly id: string;
  readonly owner: string;
  /** As it was asked for; a project has none. */
  readonly visibility?: 'public' | 'private';
}

/** The owner of what the matrix is about. */
export const landlord = 'landlord';

/** What the asker may do with the thing: the table of [contract 4], written down once more. */
export function rightsOn(asker: GroupAsker, subject: GroupSubject): readonly Right[] {
  const account = rightsOfAccount(asker, subject);
  return rights.filter((right) => {
    if (asker.key?.devices !== undefined) return false;
    if (asker.key?.rights !== undefined && !asker.key.rights.includes(right)) return false;
    return account.includes(right);
  });
}

function rightsOfAccount(asker: GroupAsker, subject: GroupSubject): readonly Right[] {
  const { kind, owner, visibility } = subject;
  if (owner === 'guest' || asker.isAdmin === true || asker.username === owner) return rights;
  const { granted = [] } = asker;
  const isOpen = kind === 'gateway' && visibility !== 'private';
  return granted.length > 0 || isOpen ? [...granted, 'view'] : [];
}

/** A route about one gateway or project, and what it takes to use it. */
export interface GroupRoute {
  readonly needs: Right | 'share' | 'hand over' | 'give';
  readonly sent?: Pick<Call, 'json' | 'body'>;
  /** The thing is not the same after it, so the next asker gets a new one. */
  readonly isDestructive?: boolean;
}

const update = (body: string): GroupRoute => ({ needs: 'update', sent: { body } });

const common = (kind: Kind): Readonly<Record<string, GroupRoute>> => ({
  [`GET /${kind}s/{${kind}_id}`]: { needs: 'view' },
  [`DELETE /${kind}s/{${kind}_id}`]: { needs: 'delete', isDestructive: true },
  [`PUT /${kind}s/{${kind}_id}/name`]: update('Secret garden'),
  [`GET /${kind}s/{${kind}_id}/grants`]: { needs: 'share' },
  [`PUT /${kind}s/{${kind}_id}/grants/{username}`]: {
    needs: 'share',
    sent: { json: [scopeOf(kind, 'view')] },
  },
  [`DELETE /${kind}s/{${kind}_id}/grants/{username}`]: { needs: 'share' },
  // A group that the landlord has; an admin may share with it, too.
  [`PUT /${kind}s/{${kind}_id}/grants/groups/{group_id}`]: {
    needs: 'share',
    sent: { json: [scopeOf(kind, 'view')] },
  },
  [`DELETE /${kind}s/{${kind}_id}/grants/groups/{group_id}`]: { needs: 'share' },
});

/** Every route about one gateway or project. */
export const groupRoutes: Readonly<Record<Kind, Readonly<Record<string, GroupRoute>>>> = {
  gateway: {
    ...common('gateway'),
    'PUT /gateways/{gateway_id}/visibility': { ...update('public'), isDestructive: true },
    'PUT /gateways/{gateway_id}/location': update('5.6,-0.2'),
    'PUT /gateways/{gateway_id}/accept': { needs: 'hand over' },
    'PUT /gateways/{gateway_id}/owner': {
      needs: 'give',
      sent: { body: landlord },
      isDestructive: true,
    },
    'PUT /gateways/{gateway_id}/health': update('{"up":true}'),
    'POST /gateways/{gateway_id}/health': update('{"up":true}'),
    'PUT /gateways/{gateway_id}/heartbeat': update('{"up":true}'),
    'POST /gateways/{gateway_id}/heartbeat': update('{"up":true}'),
  },
  project: {
    ...common('project'),
    'GET /projects/{project_id}/export': { needs: 'view' },
    'PUT /projects/{project_id}/device_ids': update('["d"]'),
    'PUT /projects/{project_id}/gateway_ids': update('["g"]'),
  },
};

/** Whether the asker may use the route on the thing. */
export function isAllowed(asker: GroupAsker, subject: GroupSubject, route: GroupRoute): boolean {
  const isEverybodys = subject.owner === 'guest';
  const isInCharge = asker.isAdmin === true || asker.username === subject.owner;
  switch (route.needs) {
    case 'share':
      return asker.key === undefined && isInCharge && !isEverybodys;
    case 'hand over':
      return asker.key === undefined && (isInCharge || isEverybodys);
    case 'give':
      return (
        asker.key === undefined && asker.username !== undefined && (isInCharge || isEverybodys)
      );
    default:
      return rightsOn(asker, subject).includes(route.needs);
  }
}

/** The routes about all of a kind, which the tests of this matrix ask one by one. */
export const listRoutes: readonly string[] = (['gateway', 'project'] as const).flatMap((kind) => [
  `POST /${kind}s`,
  `GET /${kind}s`,
  `GET /auth/permissions/${kind}s`,
]);
