import { type GroupId, parseGroupId, parseUsername } from '../../domain/ids.ts';
import { limits } from '../../domain/limits.ts';
import { GroupMessage, groupToWire, readGroup, readUsernames } from '../../wire/group.ts';
import { bare, json } from '../answer.ts';
import { messageBody } from '../body.ts';
import {
  bareTextAnswer,
  messageAnswer,
  type Params,
  type Route,
  routesOf,
  usualErrors,
} from '../route.ts';
import { requiredTextBody } from './field-routes.ts';
import { listRoute } from './lists.ts';
import type { Services } from './services.ts';

const route = routesOf('Groups');
const path = '/groups/:group_id';
const groupIdOf = (params: Params): GroupId => parseGroupId(params['group_id']);

/** Groups of users, to share things with. */
export function groupRoutes({ groups }: Services): readonly Route[] {
  return [
    route.post('/groups', {
      summary: 'Put users under one name, to share things with all of them',
      body: messageBody(readGroup),
      answer: bareTextAnswer('The id of the new group.'),
      errors: [...usualErrors, 'limit_reached'],
      handle: async ({ actor, body }) => bare(await groups.create(actor, body)),
    }),
    listRoute(route, '/groups', {
      summary: 'List your groups, in order of creation',
      said: 'Groups; X-Total-Count has the number of all that are yours.',
      schema: GroupMessage,
      page: { max: limits.groupsPerUserMax, usual: limits.groupsPerUserMax },
      name: 'groups',
      read: ({ actor }, page) => groups.list(actor, page),
      toWire: groupToWire,
    }),
    route.get(path, {
      summary: 'Read a group of yours',
      answer: messageAnswer('The group.', GroupMessage),
      handle: async ({ actor, params }) =>
        json(groupToWire(await groups.get(actor, groupIdOf(params)))),
    }),
    ...changeRoutes(groups),
  ];
}

function changeRoutes(groups: Services['groups']): readonly Route[] {
  return [
    route.put(`${path}/name`, {
      summary: 'Rename a group',
      body: requiredTextBody,
      done: 'Renamed.',
      perform: ({ actor, params, body }) => groups.rename(actor, groupIdOf(params), body),
    }),
    route.put(`${path}/usernames`, {
      summary: 'Set who is in a group; what is shared with it follows at once',
      body: messageBody(readUsernames),
      done: 'Set.',
      perform: ({ actor, params, body }) => groups.setMembers(actor, groupIdOf(params), body),
    }),
    route.put(`${path}/usernames/:username`, {
      summary: 'Take a user into a group',
      done: 'In the group, with all that is shared with it.',
      perform: ({ actor, params }) =>
        groups.addMember(actor, groupIdOf(params), parseUsername(params['username'])),
    }),
    route.delete(`${path}/usernames/:username`, {
      summary: 'Take a user out of a group; members may leave by themselves',
      done: 'Out of the group, and what it was given has ended.',
      perform: ({ actor, params }) =>
        groups.removeMember(actor, groupIdOf(params), parseUsername(params['username'])),
    }),
    route.delete(path, {
      summary: 'Delete a group; what was shared with it no longer is',
      done: 'Deleted.',
      perform: ({ actor, params }) => groups.remove(actor, groupIdOf(params)),
    }),
  ];
}
