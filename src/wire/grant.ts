import Type from 'typebox';
import type { Grant, OwnedGrant, OwnedGroupGrant } from '../domain/access/grant.ts';
import { parseScope, type ResourceKind, type Scope } from '../domain/access/scopes.ts';
import { Word } from './fields.ts';
import { createReader } from './validation.ts';

export const PermissionMessage = Type.Object(
  {
    resource: Type.String({ description: 'The id of the device, gateway or project.' }),
    scopes: Type.Array(Word()),
  },
  { title: 'Permission' },
);

const grantee = {
  username: Type.Optional(Type.String({ description: 'The user; absent for a group.' })),
  group: Type.Optional(Type.String({ description: 'The id of the group; absent for a user.' })),
  name: Type.Optional(Type.String({ description: 'What the group is called.' })),
};

export const GrantMessage = Type.Object(
  { ...grantee, scopes: Type.Array(Word()) },
  { title: 'Grant' },
);

/** Scopes that one list may name; there are fewer. */
export const scopesPerListMax = 100;

export const RightsMessage = Type.Array(Word(), {
  maxItems: scopesPerListMax,
  description: 'Rights such as devices:view; an empty array revokes.',
  examples: [['devices:view', 'devices-data:view']],
});

export const MyGrantsMessage = Type.Object(
  {
    given: Type.Array(
      Type.Object({
        kind: Word(),
        resource: Type.String(),
        ...grantee,
        scopes: Type.Array(Word()),
      }),
    ),
    received: Type.Array(
      Type.Object({
        kind: Word(),
        resource: Type.String(),
        owner: Type.String(),
        group: Type.Optional(Type.String({ description: 'The id of the group you are in.' })),
        name: Type.Optional(Type.String({ description: 'What that group is called.' })),
        scopes: Type.Array(Word()),
      }),
    ),
  },
  { title: 'MyGrants' },
);

const readRights = createReader(RightsMessage, 'rights');

/** Rights in either spelling, of one kind of resource. */
export function rightsFromWire(message: unknown, kind: ResourceKind): readonly Scope[] {
  return readRights(message).map((text) => parseScope(text, kind));
}

export const grantToWire = ({ username, scopes }: Grant) => ({ username, scopes });

export const givenGrantToWire = ({ kind, resource, username, scopes }: OwnedGrant) => ({
  kind,
  resource,
  username,
  scopes,
});

export const receivedGrantToWire = ({ kind, resource, owner, scopes }: OwnedGrant) => ({
  kind,
  resource,
  owner,
  scopes,
});

export const groupGrantToWire = ({ groupId, groupName, scopes }: OwnedGroupGrant) => ({
  group: groupId,
  name: groupName,
  scopes,
});

export const givenGroupGrantToWire = (grant: OwnedGroupGrant) => ({
  kind: grant.kind,
  resource: grant.resource,
  ...groupGrantToWire(grant),
});

export const receivedGroupGrantToWire = (grant: OwnedGroupGrant) => ({
  kind: grant.kind,
  resource: grant.resource,
  owner: grant.owner,
  ...groupGrantToWire(grant),
});
