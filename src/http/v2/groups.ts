import Type from 'typebox';
import type { Groups } from '../../domain/groups/groups.ts';
import { type GroupId, parseGroupId, parseUsername } from '../../domain/ids.ts';
import { limits } from '../../domain/limits.ts';
import {
  GroupMessage,
  groupToWire,
  NewGroupMessage,
  newGroupFromWire,
  UsernamesMessage,
  usernamesFromWire,
} from '../../wire/group.ts';
import { bare, json } from '../answer.ts';
import { bareTextAnswer, defineCommand, defineRoute, messageAnswer, type Route } from '../route.ts';
import { jsonBody } from '../route-body.ts';
import { requiredTextBody } from './field-routes.ts';
import { listed } from './listed.ts';

const tag = 'Groups';
const path = '/groups/:group_id';
const errors = ['invalid', 'unauthenticated', 'forbidden', 'not_found'] as const;

type Params = Readonly<Record<string, string>>;

const groupIdOf = (params: Params): GroupId => parseGroupId(params['group_id']);

/** Groups of users, to share things with. */
export function groupRoutes(groups: Groups): readonly Route[] {
  return [createRoute(groups), ...readRoutes(groups), ...changeRoutes(groups)];
}

function createRoute(groups: Groups): Route {
  return defineRoute({
    method: 'POST',
    path: '/groups',
    tag,
    summary: 'Put users under one name, to share things with all of them',
    body: jsonBody(NewGroupMessage, newGroupFromWire),
    answer: bareTextAnswer('The id of the new group.'),
    errors: [...errors, 'limit_reached'],
    handle: async ({ actor, body }) => bare(await groups.create(actor, body)),
  });
}

function readRoutes(groups: Groups): readonly Route[] {
  return [
    defineRoute({
      method: 'GET',
      path: '/groups',
      tag,
      summary: 'List your groups, in order of creation',
      query: Type.Object({
        limit: Type.Optional(Type.Integer({ minimum: 0, maximum: limits.groupsPerUserMax })),
        offset: Type.Optional(Type.Integer({ minimum: 0, default: 0 })),
      }),
      answer: messageAnswer(
        'Groups; X-Total-Count has the number of all that are yours.',
        Type.Array(GroupMessage),
      ),
      errors: ['invalid', 'unauthenticated', 'forbidden'],
      handle: async ({ actor, query, url }) => {
        const { limit = limits.groupsPerUserMax, offset = 0 } = query;
        // Two hundred groups of a thousand users each: read while they are written.
        return listed(
          { url, limit, offset },
          'groups',
          (page) => groups.list(actor, page),
          groupToWire,
        );
      },
    }),
    defineRoute({
      method: 'GET',
      path,
      tag,
      summary: 'Read a group of yours',
      answer: messageAnswer('The group.', GroupMessage),
      errors,
      handle: async ({ actor, params }) =>
        json(groupToWire(await groups.get(actor, groupIdOf(params)))),
    }),
  ];
}

function changeRoutes(groups: Groups): readonly Route[] {
  return [
    defineCommand({
      method: 'PUT',
      path: `${path}/name`,
      tag,
      summary: 'Rename a group',
      body: requiredTextBody,
      done: 'Renamed.',
      errors,
      perform: ({ actor, params, body }) => groups.rename(actor, groupIdOf(params), body),
    }),
    defineCommand({
      method: 'PUT',
      path: `${path}/usernames`,
      tag,
      summary: 'Set who is in a group; what is shared with it follows at once',
      body: jsonBody(UsernamesMessage, usernamesFromWire),
      done: 'Set.',
      errors,
      perform: ({ actor, params, body }) => groups.setMembers(actor, groupIdOf(params), body),
    }),
    defineCommand({
      method: 'PUT',
      path: `${path}/usernames/:username`,
      tag,
      summary: 'Take a user into a group',
      done: 'In the group, with all that is shared with it.',
      errors,
      perform: ({ actor, params }) =>
        groups.addMember(actor, groupIdOf(params), parseUsername(params['username'])),
    }),
    defineCommand({
      method: 'DELETE',
      path: `${path}/usernames/:username`,
      tag,
      summary: 'Take a user out of a group; members may leave by themselves',
      done: 'Out of the group, and what it was given has ended.',
      errors,
      perform: ({ actor, params }) =>
        groups.removeMember(actor, groupIdOf(params), parseUsername(params['username'])),
    }),
    defineCommand({
      method: 'DELETE',
      path,
      tag,
      summary: 'Delete a group; what was shared with it no longer is',
      done: 'Deleted.',
      errors,
      perform: ({ actor, params }) => groups.remove(actor, groupIdOf(params)),
    }),
  ];
}
