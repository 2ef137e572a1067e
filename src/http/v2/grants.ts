import Type from 'typebox';
import type { ResourceKind } from '../../domain/access/scopes.ts';
import { parseGroupId, parseUsername } from '../../domain/ids.ts';
import type { Sharing } from '../../domain/sharing/sharing.ts';
import {
  GrantMessage,
  givenGrantToWire,
  givenGroupGrantToWire,
  grantToWire,
  groupGrantToWire,
  MyGrantsMessage,
  RightsMessage,
  receivedGrantToWire,
  receivedGroupGrantToWire,
  rightsFromWire,
} from '../../wire/grant.ts';
import { json } from '../answer.ts';
import { defineCommand, defineRoute, messageAnswer, type Route } from '../route.ts';
import { jsonBody } from '../route-body.ts';

const tag = 'Sharing';

/** Routes on who may do what with the things of one kind, for their owner and admins. */
export function grantRoutes(sharing: Sharing, kind: ResourceKind): readonly Route[] {
  const parameter = `${kind}_id`;
  const path = `/${kind}s/:${parameter}/grants`;
  const idOf = (params: Readonly<Record<string, string>>) => params[parameter] ?? '';
  return [
    defineRoute({
      method: 'GET',
      path,
      tag,
      summary: `List with whom a ${kind} is shared`,
      answer: messageAnswer('One entry per user, then one per group.', Type.Array(GrantMessage)),
      errors: ['invalid', 'unauthenticated', 'forbidden', 'not_found'],
      handle: async ({ actor, params }) =>
        json(toWire(await sharing.listGrants(actor, kind, idOf(params)))),
    }),
    defineCommand({
      method: 'PUT',
      path: `${path}/:username`,
      tag,
      summary: `Share a ${kind} with a user: sets the rights, an empty array revokes`,
      body: jsonBody(RightsMessage, (message) => rightsFromWire(message, kind)),
      done: 'In force at once.',
      errors: ['invalid', 'unauthenticated', 'forbidden', 'not_found'],
      perform: ({ actor, params, body: scopes }) =>
        sharing.grant(actor, kind, idOf(params), {
          username: parseUsername(params['username']),
          scopes,
        }),
    }),
    defineCommand({
      method: 'DELETE',
      path: `${path}/:username`,
      tag,
      summary: `Stop sharing a ${kind} with a user`,
      done: 'In force at once.',
      errors: ['invalid', 'unauthenticated', 'forbidden', 'not_found'],
      perform: ({ actor, params }) =>
        sharing.revoke(actor, kind, idOf(params), parseUsername(params['username'])),
    }),
    ...groupGrantRoutes({ sharing, kind, path, idOf }),
  ];
}

type Params = Readonly<Record<string, string>>;

const toWire = ({ users, groups }: Awaited<ReturnType<Sharing['listGrants']>>) => [
  ...users.map(grantToWire),
  ...groups.map(groupGrantToWire),
];

function groupGrantRoutes(options: {
  readonly sharing: Sharing;
  readonly kind: ResourceKind;
  readonly path: string;
  readonly idOf: (params: Params) => string;
}): readonly Route[] {
  const { sharing, kind, idOf } = options;
  const path = `${options.path}/groups/:group_id`;
  return [
    defineCommand({
      method: 'PUT',
      path,
      tag,
      summary: `Share a ${kind} with one of your groups: sets the rights, an empty array revokes`,
      body: jsonBody(RightsMessage, (message) => rightsFromWire(message, kind)),
      done: 'In force at once, for whoever is in the group.',
      errors: ['invalid', 'unauthenticated', 'forbidden', 'not_found'],
      perform: ({ actor, params, body: scopes }) =>
        sharing.grantToGroup(actor, kind, idOf(params), {
          groupId: parseGroupId(params['group_id']),
          scopes,
        }),
    }),
    defineCommand({
      method: 'DELETE',
      path,
      tag,
      summary: `Stop sharing a ${kind} with a group`,
      done: 'In force at once.',
      errors: ['invalid', 'unauthenticated', 'forbidden', 'not_found'],
      perform: ({ actor, params }) =>
        sharing.revokeFromGroup(actor, kind, idOf(params), parseGroupId(params['group_id'])),
    }),
  ];
}

/** The route that lists what I share, and what is shared with me. */
export function myGrantsRoute(sharing: Sharing): Route {
  return defineRoute({
    method: 'GET',
    path: '/users/me/grants',
    tag,
    summary: 'List what you share with whom, and what is shared with you',
    answer: messageAnswer('Grants given and received.', MyGrantsMessage),
    errors: ['unauthenticated', 'forbidden'],
    handle: async ({ actor }) => {
      const { given, received, givenToGroups, receivedByGroups } = await sharing.mine(actor);
      return json({
        given: [...given.map(givenGrantToWire), ...givenToGroups.map(givenGroupGrantToWire)],
        received: [
          ...received.map(receivedGrantToWire),
          ...receivedByGroups.map(receivedGroupGrantToWire),
        ],
      });
    },
  });
}
