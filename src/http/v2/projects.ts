import Type from 'typebox';
import { type ProjectId, parseProjectId } from '../../domain/ids.ts';
import { limits } from '../../domain/limits.ts';
import type { ProjectChanges } from '../../domain/projects/projects.ts';
import { deviceTexts } from '../../wire/device-text.ts';
import { Flag } from '../../wire/fields.ts';
import {
  DeviceIdsMessage,
  GatewayIdsMessage,
  ProjectMessage,
  projectToWire,
  readDeviceIds,
  readGatewayIds,
  readProject,
} from '../../wire/project.ts';
import { bare, json } from '../answer.ts';
import { bareBody, bareJson, messageBody } from '../body.ts';
import { bareTextAnswer, messageAnswer, type Params, type Route, routesOf } from '../route.ts';
import { type Fields, fieldRoutes, textBody } from './field-routes.ts';
import { gatewayView } from './gateways.ts';
import { listRoute, metaParameter, metaSpelling } from './lists.ts';
import type { Services } from './services.ts';

const route = routesOf('Projects');

/** Projects: create, list, read, change, delete. */
export function projectRoutes(services: Services): readonly Route[] {
  const { projects } = services;
  return [
    route.post('/projects', {
      summary: 'Create a project; without a token it is everybody’s',
      body: messageBody(readProject),
      answer: bareTextAnswer('The id of the new project.'),
      errors: ['invalid', 'unauthenticated', 'forbidden', 'conflict', 'limit_reached'],
      handle: async ({ actor, body }) => bare(await projects.create(actor, body)),
    }),
    listRoute(route, '/projects', {
      summary: 'List the projects you may see, in order of creation',
      said: 'Projects; X-Total-Count has the number of all that you may see.',
      schema: ProjectMessage,
      page: { max: limits.projectsPageMax, usual: limits.projectsPageDefault },
      errors: ['invalid', 'unauthenticated'],
      name: 'projects',
      read: ({ actor }, page) => projects.list(actor, page),
      toWire: (project) => projectToWire({ project }),
    }),
    readRoute(services),
    route.delete('/projects/:project_id', {
      summary: 'Delete a project with its grants; what is in it stays',
      done: 'Deleted.',
      perform: ({ actor, params }) => projects.remove(actor, projectIdOf(params)),
    }),
    ...fieldRoutes(route, {
      path: '/projects/:project_id',
      thing: 'a project',
      fields: projectFields,
      update: (actor, params, changes) => projects.update(actor, projectIdOf(params), changes),
    }),
  ];
}

const projectIdOf = (params: Params): ProjectId => parseProjectId(params['project_id']);

function readRoute(services: Services): Route {
  return route.get('/projects/:project_id', {
    summary: 'Read a project; full=true adds its devices and gateways',
    query: Type.Object({
      full: Type.Optional(
        Flag('true: adds the devices and gateways that exist and that you may view.', false),
      ),
      ...metaParameter,
    }),
    answer: messageAnswer('The project.', ProjectMessage),
    handle: async ({ actor, params, query, spelling }) => {
      const project = await services.projects.get(actor, projectIdOf(params));
      const unshared = await services.projects.unshared(actor, project);
      if (query.full !== true) return json(projectToWire({ project, unshared }));
      const { gateways, presence, snapshots } = services;
      const { steps } = await snapshots.getMany(actor, project.deviceIds);
      const shown = await gateways.getMany(actor, project.gatewayIds);
      const views = shown.map((gateway) => gatewayView(gateway, presence));
      const message = projectToWire({ project, unshared, gateways: views });
      return {
        kind: 'nested',
        message,
        lists: new Map([['devices', deviceTexts(steps, metaSpelling(query, spelling))]]),
      };
    },
  });
}

const projectFields: Fields<ProjectChanges> = {
  name: textBody((name) => ({ name })),
  device_ids: bareBody(DeviceIdsMessage, (body) => ({
    deviceIds: readDeviceIds(bareJson(body) ?? []),
  })),
  gateway_ids: bareBody(GatewayIdsMessage, (body) => ({
    gatewayIds: readGatewayIds(bareJson(body) ?? []),
  })),
};
