import Type, { type Static } from 'typebox';
import type { Grant, OwnedGrant, OwnedGroupGrant } from '../domain/access/grant.ts';
import { grantableOn, parseScope, type ResourceKind, type Scope } from '../domain/access/scopes.ts';
import { invalid } from '../domain/errors.ts';
import { parseDeviceId, parseGroupId, parseProjectId } from '../domain/ids.ts';
import {
  type Invitation,
  type InvitationTarget,
  invitationLimits,
  type NewInvitation,
  type OfferedInvitation,
} from '../domain/sharing/invitations.ts';
import { defined } from '../lib/record.ts';
import { formatTimestamp } from '../lib/timestamp.ts';
import { readEnd } from './datapoint.ts';
import {
  DateText,
  distinct,
  EndText,
  Message,
  optional,
  Plain,
  Whole,
  type Wire,
  Word,
} from './fields.ts';
import { createReader } from './validation.ts';

export const PermissionMessage = Message('Permission', {
  resource: Plain('The id of the device, gateway or project.'),
  scopes: Type.Array(Word()),
});

const grantee = optional({
  username: Plain('The user; absent for a group.'),
  group: Plain('The id of the group; absent for a user.'),
  name: Plain('What the group is called.'),
});

export const GrantMessage = Message('Grant', { ...grantee, scopes: Type.Array(Word()) });

/** Scopes that one list may name; there are fewer. */
export const scopesPerListMax = 100;

export const RightsMessage = Type.Array(Word(), {
  maxItems: scopesPerListMax,
  description: 'Rights such as devices:view; an empty array revokes.',
  examples: [['devices:view', 'devices-data:view']],
});

export const MyGrantsMessage = Message('MyGrants', {
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
      group: Type.Optional(Plain('The id of the group you are in.')),
      name: Type.Optional(Plain('What that group is called.')),
      scopes: Type.Array(Word()),
    }),
  ),
});

const readRights = createReader(RightsMessage, 'rights');

/** Rights in either spelling, of one kind of resource. */
export function rightsFromWire(message: unknown, kind: ResourceKind): readonly Scope[] {
  return readRights(message).map((text) => parseScope(text, kind));
}

const groupOf = ({ groupId: group, groupName: name }: OwnedGroupGrant) => ({ group, name });

/** The holder of a grant, and what it is to. */
export const grantToWire = (grant: Grant | OwnedGroupGrant) => ({
  ...('groupId' in grant ? groupOf(grant) : { username: grant.username }),
  scopes: grant.scopes,
});

export const givenGrantToWire = (grant: OwnedGrant | OwnedGroupGrant) => ({
  ...{ kind: grant.kind, resource: grant.resource },
  ...grantToWire(grant),
});

export const receivedGrantToWire = (grant: OwnedGrant | OwnedGroupGrant) => ({
  ...{ kind: grant.kind, resource: grant.resource, owner: grant.owner },
  ...('groupId' in grant && groupOf(grant)),
  scopes: grant.scopes,
});

const scopes = Type.Array(Word(), {
  maxItems: scopesPerListMax,
  description: 'What those who join may do; absent: see it and its values.',
  examples: [['devices:view', 'devices-data:view']],
});
const usesLeft = Whole('How many more accounts it lets in.');
const led = optional({
  devices: Type.Array(Type.String(), {
    maxItems: invitationLimits.invitationDevicesMax,
    description: 'Devices of yours.',
  }),
  group: Plain('The id of a group of yours.'),
  project: Plain('The id of a project of yours.'),
  scopes,
});

const NewInvitationMessage = Message('NewInvitation', {
  ...led,
  ...optional({
    expires: EndText('When it ends; absent: in seven days.'),
    uses: Type.Integer({
      minimum: 1,
      maximum: invitationLimits.invitationUsesMax,
      description: 'How many accounts it lets in; absent: one.',
    }),
  }),
});

const ends = { expires: DateText('When it ends.'), uses_left: usesLeft };

export const CreatedInvitationMessage = Message('CreatedInvitation', {
  id: Type.String(),
  url: Plain('The link, shown this once.'),
  ...ends,
});

export const InvitationMessage = Message('Invitation', {
  id: Type.String(),
  ...led,
  date_created: DateText('Set by the service.'),
  ...ends,
});

const target = {
  kind: Word('device, project or group'),
  resource: Plain('Its id.'),
  scopes: Type.Array(Word()),
};

export const OfferedInvitationMessage = Message('OfferedInvitation', {
  by: Type.Object({
    username: Type.String(),
    name: Type.Optional(Plain('As the profile has it.')),
  }),
  to: Type.Array(Type.Object({ ...target, name: Type.String() })),
  ...ends,
});

export const AcceptedInvitationMessage = Message('AcceptedInvitation', {
  granted: Type.Array(Type.Object(target)),
});

const usual: Readonly<Record<'device' | 'project', readonly Scope[]>> = {
  device: ['devices:view', 'devices-data:view'],
  project: ['projects:view'],
};

export const readInvitation = createReader(NewInvitationMessage, 'invitation', newInvitation);

function newInvitation(message: Static<typeof NewInvitationMessage>): NewInvitation {
  const { devices = [], group, project, scopes, expires, uses = 1 } = message;
  const given = scopes?.map((text) => parseScope(text));
  const scopesOn = (kind: 'device' | 'project'): readonly Scope[] => {
    const asked = given ?? usual[kind];
    const fitting = grantableOn[kind].filter((scope) => asked.includes(scope));
    if (fitting.length > 0) return fitting;
    throw invalid(`scopes must name a right on a ${kind}, such as ${usual[kind].join(', ')}`);
  };
  const targets: InvitationTarget[] = distinct(devices.map(parseDeviceId)).map((resource) => {
    return { kind: 'device', resource, scopes: scopesOn('device') };
  });
  if (project !== undefined) {
    const resource = parseProjectId(project);
    targets.push({ kind: 'project', resource, scopes: scopesOn('project') });
  }
  if (group !== undefined) targets.push({ kind: 'group', resource: parseGroupId(group) });
  const expiresAt = expires === undefined ? undefined : readEnd(expires, 'expires');
  return defined({ targets, uses, expiresAt });
}

const endsOf = ({ expiresAt, usesLeft }: Invitation) => ({
  expires: formatTimestamp(expiresAt),
  uses_left: usesLeft,
});

export const createdInvitationToWire = (
  invitation: Invitation,
  url: string,
): Wire<typeof CreatedInvitationMessage> => ({ id: invitation.id, url, ...endsOf(invitation) });

export function invitationToWire(invitation: Invitation): Wire<typeof InvitationMessage> {
  const { id, targets, createdAt } = invitation;
  const ofKind = (kind: InvitationTarget['kind']) =>
    targets.filter((target) => target.kind === kind).map(({ resource }) => resource);
  const devices = ofKind('device');
  const [project] = ofKind('project');
  const [group] = ofKind('group');
  const scopes = targets.flatMap((target) => (target.kind === 'group' ? [] : target.scopes));
  return defined({
    id,
    ...(devices.length > 0 && { devices }),
    group,
    project,
    ...(scopes.length > 0 && { scopes: distinct(scopes) }),
    date_created: formatTimestamp(createdAt),
    ...endsOf(invitation),
  });
}

export const targetToWire = (target: InvitationTarget) => ({
  kind: target.kind,
  resource: target.resource,
  scopes: target.kind === 'group' ? [] : target.scopes,
});

export const offeredInvitationToWire = ({
  invitation,
  by,
  targets,
}: OfferedInvitation): Wire<typeof OfferedInvitationMessage> => ({
  by,
  to: targets.map(({ target, name }) => ({ ...targetToWire(target), name })),
  ...endsOf(invitation),
});
