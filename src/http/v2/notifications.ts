import Type from 'typebox';
import { DomainError, notFound } from '../../domain/errors.ts';
import { type NotificationId, parseNotificationId } from '../../domain/ids.ts';
import { limits } from '../../domain/limits.ts';
import { notificationStatuses } from '../../domain/notifications/notification.ts';
import type { Unreachable } from '../../domain/notifications/recipients.ts';
import {
  ChannelMessage,
  channelToWire,
  DeliveryMessage,
  deliveryToWire,
  EvaluationMessage,
  evaluationToWire,
  PreviewMessage,
  previewToWire,
  readPreviewRequest,
  TestOutcomeMessage,
} from '../../wire/delivery.ts';
import { OneOf, Plain } from '../../wire/fields.ts';
import {
  NotificationMessage,
  notificationToWire,
  readNotification,
  readNotificationChanges,
} from '../../wire/notification.ts';
import { readWord } from '../../wire/validation.ts';
import { bare, json } from '../answer.ts';
import { bareBody, messageBody } from '../body.ts';
import { bareTextAnswer, messageAnswer, type Params, type Route, routesOf } from '../route.ts';
import { requiredText } from './field-routes.ts';
import { listRoute } from './lists.ts';
import type { Services } from './services.ts';

const route = routesOf('Notifications');

const narrowing = {
  owner: Type.Optional(Plain('Only those that this user made.')),
  sort: Type.Optional(OneOf(['asc', 'dsc'], 'By creation; dsc: the newest first.', 'asc')),
};

/** Notifications, what became of them, and ways to try them. */
export function notificationRoutes(services: Services): readonly Route[] {
  const { notifications } = services;
  return [
    route.post('/notifications', {
      summary: 'Create a notification',
      body: messageBody(readNotification),
      answer: bareTextAnswer(
        'The id of the notification. The header X-Unreachable says as JSON whom it cannot reach.',
      ),
      errors: ['invalid', 'unauthenticated', 'forbidden', 'limit_reached'],
      handle: async ({ actor, body }) => {
        const id = await notifications.create(actor, body);
        const made = await notifications.get(actor, id);
        const [{ unreachable } = { unreachable: [] }] = await notifications.lacks(actor, [made]);
        return bare(id, unreachable.length > 0 ? { 'x-unreachable': headerText(unreachable) } : {});
      },
    }),
    listRoute(route, '/notifications', {
      summary: 'List the notifications that you may read, in order of creation',
      said: 'Notifications; X-Total-Count has the number of them on all pages.',
      schema: NotificationMessage,
      page: { max: limits.notificationsPageMax, usual: limits.notificationsPageDefault },
      narrowing,
      errors: ['invalid', 'unauthenticated'],
      name: 'notifications',
      read: async ({ actor, query }, page) => {
        const asked = { ...query, ...page };
        const { notifications: found, total } = await notifications.list(actor, asked);
        const lacks = await notifications.lacks(actor, found);
        return { notifications: found.map((one, at) => [one, lacks[at]] as const), total };
      },
      toWire: ([one, lacks]) => notificationToWire(one, lacks),
    }),
    previewRoute(services),
    route.get('/notifications/:notification_id', {
      summary: 'Read a notification, with what became of it',
      answer: messageAnswer('The notification.', NotificationMessage),
      handle: async ({ actor, params }) => {
        const found = await notifications.get(actor, idOf(params));
        const [lacks] = await notifications.lacks(actor, [found]);
        return json(notificationToWire(found, lacks));
      },
    }),
    ...changeRoutes(services),
    listRoute(route, '/notifications/:notification_id/deliveries', {
      summary: 'List what a notification sent to whom, newest first',
      said: `The last ${limits.deliveriesPerNotificationMax} deliveries.`,
      schema: DeliveryMessage,
      page: { max: limits.notificationsPageMax, usual: limits.deliveriesPageDefault },
      name: 'deliveries',
      firstItems: limits.notificationsPageMax,
      read: ({ actor, params }, page) => notifications.deliveries(actor, idOf(params), page),
      toWire: deliveryToWire,
    }),
    route.get('/notifications/:notification_id/why', {
      summary: 'Read why a notification did or did not fire: its last evaluations, newest first',
      answer: messageAnswer(
        `The last ${limits.evaluationsMax} since the service was started.`,
        Type.Array(EvaluationMessage),
      ),
      handle: async ({ actor, params }) =>
        json((await notifications.why(actor, idOf(params))).map(evaluationToWire)),
    }),
    ...testRoutes(services),
  ];
}

/** The first of them as JSON in ASCII, as headers are. */
const headerText = (unreachable: readonly Unreachable[]): string =>
  JSON.stringify(unreachable.slice(0, 20)).replace(
    /[^ -~]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );

const idOf = (params: Params): NotificationId => parseNotificationId(params['notification_id']);

/** A malformed id is as an unknown one, where something is to be deleted [contract 2]. */
function idToDelete(params: Params): NotificationId {
  try {
    return idOf(params);
  } catch (reason) {
    if (!(reason instanceof DomainError)) throw reason;
    throw notFound('there is no notification with this id');
  }
}

const statusBody = bareBody(Type.String(), (body) =>
  readWord('status', notificationStatuses, requiredText(body).trim()),
);

function changeRoutes({ notifications }: Services): readonly Route[] {
  return [
    route.patch('/notifications/:notification_id', {
      summary: 'Change fields of a notification; null removes one',
      body: messageBody(readNotificationChanges),
      done: 'Changed.',
      perform: ({ actor, params, body }) => notifications.update(actor, idOf(params), body),
    }),
    route.put('/notifications/:notification_id/status', {
      summary: 'Pause a notification, or let it fire again: active or inactive',
      body: statusBody,
      done: 'Set.',
      perform: ({ actor, params, body: status }) =>
        notifications.update(actor, idOf(params), { status }),
    }),
    route.delete('/notifications/:notification_id', {
      summary: 'Delete a notification with its deliveries',
      done: 'Deleted.',
      perform: ({ actor, params }) => notifications.remove(actor, idToDelete(params)),
    }),
  ];
}

function previewRoute({ preview }: Services): Route {
  return route.post('/notifications/preview', {
    summary: 'Tell when a notification would have fired over stored datapoints; nothing is sent',
    body: messageBody(readPreviewRequest),
    answer: messageAnswer('When it would have fired.', PreviewMessage),
    handle: async ({ actor, body }) => {
      const { notification, ...range } = body;
      return json(
        previewToWire(await preview(actor, notification, range), notification.condition.expression),
      );
    },
  });
}

function testRoutes({ testMessages }: Services): readonly Route[] {
  return [
    route.get('/users/me/channels', {
      summary: 'List the channels, and whether a message would find you by them',
      answer: messageAnswer('All channels.', Type.Array(ChannelMessage)),
      handle: async ({ actor }) => json((await testMessages.channels(actor)).map(channelToWire)),
    }),
    route.post('/users/me/channels/:channel/test', {
      summary: 'Send a test message to yourself',
      answer: messageAnswer(
        'What became of it. What a provider did not take is not tried again.',
        TestOutcomeMessage,
      ),
      errors: ['unauthenticated', 'forbidden', 'not_found', 'rate_limited'],
      handle: async ({ actor, params, headers }) =>
        json(await testMessages.send(actor, params['channel'] ?? '', headers['accept-language'])),
    }),
  ];
}
