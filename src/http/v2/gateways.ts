import Type from 'typebox';
import type { Actor } from '../../domain/actor.ts';
import { parseFilter } from '../../domain/devices/query-evaluation.ts';
import type { Gateway, GatewayChanges } from '../../domain/gateways/gateways.ts';
import type { Presence } from '../../domain/gateways/presence.ts';
import { type GatewayId, parseGatewayId } from '../../domain/ids.ts';
import { limits } from '../../domain/limits.ts';
import type { ListPart } from '../../domain/listing.ts';
import { deviceTexts } from '../../wire/device-text.ts';
import { Flag, type Wire } from '../../wire/fields.ts';
import {
  GatewayMessage,
  type GatewayView,
  gatewayToWire,
  HeartbeatMessage,
  readGateway,
  readStatus,
} from '../../wire/gateway.ts';
import type { Spelling } from '../../wire/spelling.ts';
import { json } from '../answer.ts';
import { messageBody, optionalBody } from '../body.ts';
import type { NestedMessage } from '../json-pieces.ts';
import { messageAnswer, type Params, type Route, routesOf } from '../route.ts';
import {
  type Fields,
  fieldRoutes,
  handOverRoutes,
  locationBody,
  textBody,
  visibilityBody,
} from './field-routes.ts';
import { listed, pageHeaders, pageQuery } from './lists.ts';
import type { Services } from './services.ts';

const route = routesOf('Gateways');
const shownMax = limits.devicesPerGatewayShown;

const FullQuery = Type.Object({
  full: Type.Optional(
    Flag(
      `true: adds its devices that you may view, of more than ${shownMax} its owner’s first.`,
      false,
    ),
  ),
});

const GatewaysQuery = Type.Object({
  ...FullQuery.properties,
  ...pageQuery({ max: limits.gatewaysPageMax, usual: limits.gatewaysPageDefault }),
});

/** Gateways: declare, list, read, change, heartbeats, delete. */
export function gatewayRoutes(services: Services): readonly Route[] {
  const { gateways, presence } = services;
  return [
    route.post('/gateways', {
      summary: 'Declare a gateway; without a token it is everybody’s',
      body: messageBody(readGateway),
      answer: { status: 200, description: 'Declared; the answer has no body.' },
      errors: ['invalid', 'unauthenticated', 'forbidden', 'conflict', 'limit_reached'],
      handle: async ({ actor, body }) => {
        await gateways.create(actor, body);
        return { kind: 'empty', status: 200 };
      },
    }),
    route.get('/gateways', {
      summary: 'List the gateways you may see, in order of creation',
      query: GatewaysQuery,
      answer: messageAnswer(
        'Gateways; X-Total-Count has the number of all that you may see.',
        Type.Array(GatewayMessage),
      ),
      errors: ['invalid', 'unauthenticated'],
      handle: async ({ actor, query, url, spelling }) => {
        if (query.full === true) {
          const { limit = limits.gatewaysPageDefault, offset = 0 } = query;
          const first = await gateways.list(actor, { limit: 0, offset });
          const headers = pageHeaders({ url, total: first.total, limit, offset });
          const elements = withDevices(services, { actor, spelling, limit, offset });
          return { kind: 'nested-list', elements, headers };
        }
        return listed(
          { url, query },
          limits.gatewaysPageDefault,
          'gateways',
          (page) => gateways.list(actor, page),
          (gateway) => gatewayToWire(gatewayView(gateway, presence)),
        );
      },
    }),
    readRoute(services),
    route.delete('/gateways/:gateway_id', {
      summary: 'Delete a gateway with its grants; its devices stay',
      done: 'Deleted.',
      perform: ({ actor, params }) => gateways.remove(actor, gatewayIdOf(params)),
    }),
    ...['health', 'heartbeat'].flatMap((word) =>
      [route.put, route.post].map((define) =>
        define(`/gateways/:gateway_id/${word}`, {
          summary: 'Say that a gateway is alive; a JSON object is kept as its status',
          body: optionalBody(HeartbeatMessage, readStatus),
          done: 'Recorded: last_seen is now.',
          perform: ({ actor, params, body }) =>
            gateways.heartbeat(actor, gatewayIdOf(params), body),
        }),
      ),
    ),
    ...fieldRoutes(route, {
      path: '/gateways/:gateway_id',
      thing: 'a gateway',
      fields: gatewayFields,
      update: (actor, params, changes) => gateways.update(actor, gatewayIdOf(params), changes),
    }),
    ...handOverRoutes(route, {
      path: '/gateways/:gateway_id',
      thing: 'gateway',
      acceptErrors: ['unauthenticated', 'forbidden', 'not_found'],
      accept: (actor, params) => gateways.accept(actor, gatewayIdOf(params)),
      handOver: (actor, params, owner) => gateways.handOver(actor, gatewayIdOf(params), owner),
    }),
  ];
}

/** The gateway with whether it is connected now. */
export const gatewayView = (gateway: Gateway, presence: Presence): GatewayView => ({
  gateway,
  isConnected: presence.isConnected(gateway.id),
});

const gatewayIdOf = (params: Params): GatewayId => parseGatewayId(params['gateway_id']);

function readRoute({ gateways, presence, snapshots }: Services): Route {
  return route.get('/gateways/:gateway_id', {
    summary: 'Read a gateway; full=true adds its devices',
    query: FullQuery,
    answer: messageAnswer('The gateway.', GatewayMessage),
    handle: async ({ actor, params, query, spelling }) => {
      const id = gatewayIdOf(params);
      // Before the gateway is read: who is connected has been seen.
      const isConnected = presence.isConnected(id);
      const view = { gateway: await gateways.get(actor, id), isConnected };
      if (query.full !== true) return json(gatewayToWire(view));
      return { kind: 'nested', ...(await nestedGateway(snapshots, actor, view, spelling)) };
    },
  });
}

type NestedGateway = NestedMessage<Wire<typeof GatewayMessage>>;

/**
 * A gateway with those of its devices that the actor may view; of many those of its owner before
 * others, which anybody may add.
 */
async function nestedGateway(
  snapshots: Services['snapshots'],
  actor: Actor,
  view: GatewayView,
  spelling: Spelling,
): Promise<NestedGateway> {
  const { id, owner } = view.gateway;
  // Neither an id nor a name holds a quote, so between quotes it is one text.
  const find = (q: string) =>
    snapshots.devices(actor, { filter: parseFilter(q), limit: shownMax, offset: 0 });
  const all = await find(`gateway_id=='${id}'`);
  let { steps } = all;
  if (all.total > shownMax) {
    const own = await find(`gateway_id=='${id}';owner=='${owner}'`);
    const shown = [...new Set([...own.ids, ...all.ids])].slice(0, shownMax);
    ({ steps } = await snapshots.getMany(actor, shown));
  }
  const lists = new Map([['devices', deviceTexts(steps, spelling)]]);
  return { message: gatewayToWire(view), lists };
}

const gatewaysPerStep = 20;

/** Gateway after gateway: a page of them may have very many devices. */
async function* withDevices(
  { gateways, presence, snapshots }: Services,
  page: ListPart & { readonly actor: Actor; readonly spelling: Spelling },
): AsyncGenerator<NestedGateway> {
  const { actor, spelling } = page;
  for (let done = 0; done < page.limit; done += gatewaysPerStep) {
    const limit = Math.min(gatewaysPerStep, page.limit - done);
    const step = await gateways.list(actor, { limit, offset: page.offset + done });
    for (const gateway of step.gateways) {
      yield await nestedGateway(snapshots, actor, gatewayView(gateway, presence), spelling);
    }
    if (step.gateways.length < limit) return;
  }
}

const gatewayFields: Fields<GatewayChanges> = {
  name: textBody((name) => ({ name })),
  visibility: visibilityBody,
  location: locationBody,
};
