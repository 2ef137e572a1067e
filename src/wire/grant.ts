import Type from 'typebox';
import type { Grant, OwnedGrant } from '../domain/access/grant.ts';
import { parseScope, type ResourceKind, type Scope } from '../domain/access/scopes.ts';
import { Word } from './fields.ts';
import { createReader } from './validation.ts';

export const PermissionMessage = Type.Object({
  resource: Type.String({ description: 'The id of the device, gateway or project.' }),
  scopes: Type.Array(Word()),
});

export const GrantMessage = Type.Object({
  username: Type.String(),
  scopes: Type.Array(Word()),
});

export const RightsMessage = Type.Array(Word(), {
  description: 'Rights such as devices:view; an empty array revokes.',
  examples: [['devices:view', 'devices-data:view']],
});

export const MyGrantsMessage = Type.Object({
  given: Type.Array(
    Type.Object({
      kind: Word(),
      resource: Type.String(),
      username: Type.String(),
      scopes: Type.Array(Word()),
    }),
  ),
  received: Type.Array(
    Type.Object({
      kind: Word(),
      resource: Type.String(),
      owner: Type.String(),
      scopes: Type.Array(Word()),
    }),
  ),
});

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
