import Type from 'typebox';
import type { ResourceKind } from '../../domain/access/scopes.ts';
import { parseGroupId, parseInvitationId, parseUsername } from '../../domain/ids.ts';
import { invitationLimits } from '../../domain/sharing/invitations.ts';
import {
  AcceptedInvitationMessage,
  CreatedInvitationMessage,
  createdInvitationToWire,
  GrantMessage,
  givenGrantToWire,
  grantToWire,
  InvitationMessage,
  invitationToWire,
  MyGrantsMessage,
  OfferedInvitationMessage,
  offeredInvitationToWire,
  RightsMessage,
  readInvitation,
  receivedGrantToWire,
  rightsFromWire,
  targetToWire,
} from '../../wire/sharing.ts';
import { json, unkept } from '../answer.ts';
import { jsonBody, messageBody } from '../body.ts';
import { messageAnswer, type Params, type Route, routesOf } from '../route.ts';
import { listRoute } from './lists.ts';
import type { RouteParts, Services } from './services.ts';

const route = routesOf('Sharing');
const max = 2 * invitationLimits.invitationsPerUserMax;

/** Makes routes on who may do what with the things of one kind, for their owner and admins. */
export const grantRoutes =
  (kind: ResourceKind) =>
  ({ sharing }: Services): readonly Route[] => {
    const parameter = `${kind}_id`;
    const path = `/${kind}s/:${parameter}/grants`;
    const idOf = (params: Params) => params[parameter] ?? '';
    const rights = jsonBody(RightsMessage, (message) => rightsFromWire(message, kind));
    return [
      route.get(path, {
        summary: `List with whom a ${kind} is shared`,
        answer: messageAnswer('One entry per user, then one per group.', Type.Array(GrantMessage)),
        handle: async ({ actor, params }) => {
          const { users, groups } = await sharing.listGrants(actor, kind, idOf(params));
          return json([...users, ...groups].map(grantToWire));
        },
      }),
      route.put(`${path}/:username`, {
        summary: `Share a ${kind} with a user: sets the rights, an empty array revokes`,
        body: rights,
        done: 'In force at once.',
        perform: ({ actor, params, body: scopes }) => {
          const username = parseUsername(params['username']);
          return sharing.grant(actor, kind, idOf(params), { username, scopes });
        },
      }),
      route.delete(`${path}/:username`, {
        summary: `Stop sharing a ${kind} with a user`,
        done: 'In force at once.',
        perform: ({ actor, params }) =>
          sharing.revoke(actor, kind, idOf(params), parseUsername(params['username'])),
      }),
      route.put(`${path}/groups/:group_id`, {
        summary: `Share a ${kind} with one of your groups: sets the rights, an empty array revokes`,
        body: rights,
        done: 'In force at once, for whoever is in the group.',
        perform: ({ actor, params, body: scopes }) => {
          const groupId = parseGroupId(params['group_id']);
          return sharing.grantToGroup(actor, kind, idOf(params), { groupId, scopes });
        },
      }),
      route.delete(`${path}/groups/:group_id`, {
        summary: `Stop sharing a ${kind} with a group`,
        done: 'In force at once.',
        perform: ({ actor, params }) =>
          sharing.revokeFromGroup(actor, kind, idOf(params), parseGroupId(params['group_id'])),
      }),
    ];
  };

/** The route that lists what I share, and what is shared with me. */
export function myGrantsRoute({ sharing }: Services): readonly Route[] {
  const mine = route.get('/users/me/grants', {
    summary: 'List what you share with whom, and what is shared with you',
    answer: messageAnswer('Grants given and received.', MyGrantsMessage),
    handle: async ({ actor }) => {
      const { given, received, givenToGroups, receivedByGroups } = await sharing.mine(actor);
      return json({
        given: [...given, ...givenToGroups].map(givenGrantToWire),
        received: [...received, ...receivedByGroups].map(receivedGrantToWire),
      });
    },
  });
  return [mine];
}

/** Links by which people join a device, a group or a project, with an account or not yet. */
export function invitationRoutes({ invitations, site }: RouteParts): readonly Route[] {
  return [
    route.post('/invitations', {
      summary: 'Make a link that lets people join devices, a group or a project of yours',
      body: messageBody(readInvitation),
      answer: messageAnswer('The link, which is shown this once.', CreatedInvitationMessage),
      errors: ['invalid', 'unauthenticated', 'forbidden', 'not_found', 'limit_reached'],
      handle: async ({ actor, body, raw }) => {
        const { invitation, secret } = await invitations.create(actor, body);
        const url = `${site.originOf(raw)}/join/${secret}`;
        return json(createdInvitationToWire(invitation, url), unkept);
      },
    }),
    listRoute(route, '/invitations', {
      summary: 'List your invitations that were not revoked, the newest first',
      said: 'Invitations without their links; X-Total-Count has the number of all.',
      schema: InvitationMessage,
      page: { max, usual: max },
      name: 'invitations',
      read: ({ actor }, page) => invitations.list(actor, page),
      toWire: invitationToWire,
    }),
    route.delete('/invitations/:invitation_id', {
      summary: 'Revoke an invitation; who joined by it stays',
      done: 'The link is no longer valid.',
      perform: ({ actor, params }) =>
        invitations.revoke(actor, parseInvitationId(params['invitation_id'])),
    }),
    ...linkRoutes(invitations),
  ];
}

function linkRoutes(invitations: Services['invitations']): readonly Route[] {
  const path = '/invitations/at/:token';
  return [
    route.get(path, {
      summary: 'Read who invites, to what and until when; needs no login',
      answer: messageAnswer('The invitation.', OfferedInvitationMessage),
      errors: ['unauthenticated', 'not_found', 'gone'],
      handle: async ({ params }) =>
        json(offeredInvitationToWire(await invitations.at(params['token'] ?? '')), unkept),
    }),
    route.post(`${path}/accept`, {
      summary: 'Join what an invitation leads to; twice by one account counts once',
      answer: messageAnswer('What you may do by it now.', AcceptedInvitationMessage),
      errors: ['invalid', 'unauthenticated', 'forbidden', 'not_found', 'gone'],
      handle: async ({ actor, params }) => {
        const granted = await invitations.accept(actor, params['token'] ?? '');
        return json({ granted: granted.map(targetToWire) });
      },
    }),
  ];
}
