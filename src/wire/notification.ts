import Type, { type Static } from 'typebox';
import { invalid } from '../domain/errors.ts';
import { parseActuatorId, parseDeviceId, parseSensorId } from '../domain/ids.ts';
import { limits } from '../domain/limits.ts';
import { evaluationLimits } from '../domain/notifications/evaluation-limits.ts';
import { listsIn, problemOf } from '../domain/notifications/expression.ts';
import {
  type Action,
  type Condition,
  channelNames,
  type NotificationDraft,
  notificationStatuses,
  type TalliedNotification,
} from '../domain/notifications/notification.ts';
import {
  type Lacks,
  lacksNothing,
  type NotificationPatch,
} from '../domain/notifications/notifications.ts';
import { unknownUsernames } from '../domain/notifications/recipients.ts';
import type { JsonValue } from '../lib/json.ts';
import { defined, ifDefined } from '../lib/record.ts';
import { formatTimestamp } from '../lib/timestamp.ts';
import {
  Anything,
  DateText,
  distinct,
  Message,
  OneOf,
  optional,
  Plain,
  removedIn,
  Text,
  Whole,
  type Wire,
} from './fields.ts';
import { createReader } from './validation.ts';

export const ConditionMessage = Message(
  'NotificationCondition',
  optional({
    devices: Type.Array(Type.String(), {
      description: 'Empty or absent: every device of yours that has one of the sensors.',
      maxItems: limits.conditionDevicesMax,
      examples: [['MyDevice']],
    }),
    sensors: Type.Array(Type.String(), {
      description: 'Pushes to these are looked at, and pushes to those that the expression names.',
      maxItems: limits.conditionSensorsMax,
      examples: [['TC1']],
    }),
    expression: Type.String({
      description:
        'Tests of last values, such as TC1 > 30;SM1 < 10. At the end of a test, for 10m: ' +
        'it must have held so long; clear TC1 < 28: after a message it must have been so ' +
        'before the next. silent(TC1, 2h): nothing came for so long. Absent: every push counts.',
      maxLength: limits.queryCharactersMax,
      examples: ['TC1 > 30 for 10m clear TC1 < 28'],
    }),
    max_age: Type.Union(
      [Type.Integer({ minimum: 1, maximum: evaluationLimits.maxAgeSecondsMax }), Type.Null()],
      {
        description:
          'Datapoints that were measured more than so many seconds before they came are passed ' +
          'over. Absent, or null in a change: none is.',
        examples: [3_600],
      },
    ),
  }),
);

const social = {
  usernames: Type.Array(Type.String({ minLength: 1, maxLength: limits.usernameCharactersMax }), {
    minItems: 1,
    maxItems: limits.deliveriesPerFiringMax,
    examples: [['ama']],
  }),
  channels: Type.Array(OneOf(channelNames, 'The way to the users.'), {
    minItems: 1,
    maxItems: limits.deliveriesPerFiringMax,
  }),
  message: Type.String({
    description:
      '{id} stands for the id of the sensor, {TC1} for the last value of TC1; with a $ in front, ' +
      '{id} is the id of the device; {time} and {age} are when it was measured, and how long ago.',
    minLength: 1,
    maxLength: limits.messageCharactersMax,
    examples: ['It is too hot: {TC1} degrees.'],
  }),
};
const actuation = {
  device_id: Type.String({ maxLength: limits.idCharactersMax }),
  actuator_id: Type.String({ maxLength: limits.idCharactersMax }),
  actuator_value: Anything('What it is set to; texts may hold the variables of messages.'),
};

export const ActionMessage = Message(
  'NotificationAction',
  optional({
    ...social,
    type: OneOf(
      ['SocialAction', 'ActuationAction'],
      'Absent: the fields of value stand beside it.',
    ),
    value: Type.Object(optional({ ...social, ...actuation })),
  }),
);

const drafted = optional({
  description: Text('What it is for.', 'Alert for the cold store'),
  expires: Type.String({
    description: 'After it nothing is sent; answered as it was given.',
    maxLength: 64,
    examples: ['2030-01-31T12:00:00Z'],
  }),
  throttling: Type.Integer({
    description: 'The least number of seconds between two sendings.',
    minimum: 0,
    maximum: limits.throttlingSecondsMax,
  }),
  status: OneOf(notificationStatuses, 'Absent at creation: active.'),
});

export const NewNotificationMessage = Message('NewNotification', {
  ...drafted,
  condition: ConditionMessage,
  action: ActionMessage,
});

const NotificationChangesMessage = Message('NotificationChanges', {
  ...drafted,
  condition: Type.Optional(ConditionMessage),
  action: Type.Optional(ActionMessage),
});

export const ExpressionNote = Plain(
  'How the expression was read where it lists numbers: `T == 8,5` is 8 or 5, not 8.5.',
);

export const NotificationMessage = Message('Notification', {
  id: Type.String(),
  ...drafted,
  status: OneOf(notificationStatuses, 'Whether it fires.'),
  condition: ConditionMessage,
  action: ActionMessage,
  owner: Plain('Username of who made it.'),
  ...optional({
    unknown_usernames: Type.Array(Type.String(), {
      description: 'Names that no account had when saved, or has no more: nobody gets it.',
    }),
    unreachable: Type.Array(
      Type.Object({
        username: Type.String(),
        channel: Type.String(),
        reason: Plain('What is missing, without the address.'),
      }),
      { description: 'Whom it cannot reach; for its owner and administrators.' },
    ),
    gone_devices: Type.Array(Type.String(), {
      description:
        'Devices that it names and that are gone, also where another was made under the id: ' +
        'it does not watch them. For its owner and administrators.',
    }),
    unknown_sensors: Type.Array(Type.String(), {
      description: 'Sensors that none of the named devices has; for owner and administrators.',
    }),
    expression_note: ExpressionNote,
    expression_problem: Plain(
      'What is wrong with an expression that was stored before such were refused: it keeps ' +
        'its meaning, and likely fires never or wrongly.',
    ),
  }),
  times_sent: Whole('Messages that all firings filed, those included that failed later.'),
  ...optional({
    last_notification: DateText('When it fired last.'),
    last_notif: DateText('The same.'),
    last_success: DateText('When a message left last.'),
    last_success_code: Whole('204 for an actuator.'),
    last_failure: DateText('When a try at a message failed last.'),
    last_failure_reason: Type.String(),
  }),
  date_created: DateText('Set by the service.'),
  date_modified: DateText('Set by the service.'),
});

const readSocial = createReader(Type.Object(social), 'action');
const readActuation = createReader(Type.Object(actuation), 'action.value');

function notificationFromWire(message: Static<typeof NewNotificationMessage>): NotificationDraft {
  const { condition, action, ...fields } = message;
  const { devices = [], sensors = [], expression = '', ...age } = conditionFromWire(condition);
  return {
    ...fieldsFromWire(fields),
    status: fields.status ?? 'active',
    condition: { devices, sensors, expression, ...age },
    ...actionFromWire(action),
  };
}

export const readNotification = createReader(
  NewNotificationMessage,
  'notification',
  notificationFromWire,
);

/** Fields by their names in the API, which a null removes. */
const removable = {
  description: 'description',
  expires: 'expires',
  throttling: 'throttlingSeconds',
} as const satisfies Readonly<Record<string, keyof NotificationPatch>>;

/** Changes to a notification; a field that is null is removed. */
function changesFromWire(
  { condition, action, ...fields }: Static<typeof NotificationChangesMessage>,
  sent: unknown,
): NotificationPatch {
  return {
    ...removedIn(sent, removable),
    ...fieldsFromWire(fields),
    ...(condition !== undefined && { condition: conditionFromWire(condition) }),
    ...(action !== undefined && actionFromWire(action)),
  };
}

export const readNotificationChanges = createReader(
  NotificationChangesMessage,
  'notification',
  changesFromWire,
);

type Fields = Omit<Static<typeof NotificationChangesMessage>, 'condition' | 'action'>;

function fieldsFromWire({ description, expires, throttling, status }: Fields) {
  return defined({ description, expires, throttlingSeconds: throttling, status });
}

function conditionFromWire(message: Static<typeof ConditionMessage>): Partial<Condition> {
  const { devices, sensors, expression, max_age } = message;
  return {
    ...(devices !== undefined && { devices: distinct(devices.map(parseDeviceId)) }),
    ...(sensors !== undefined && { sensors: distinct(sensors.map(parseSensorId)) }),
    ...(expression !== undefined && { expression }),
    ...(max_age !== undefined && { maxAgeSeconds: max_age ?? undefined }),
  };
}

function actionFromWire(
  message: Static<typeof ActionMessage>,
): Pick<NotificationDraft, 'action' | 'actionSpelling'> {
  const { type, value, ...plain } = message;
  if (type === 'ActuationAction') {
    const { device_id, actuator_id, actuator_value } = readActuation(value ?? {});
    const action: Action = {
      kind: 'actuation',
      deviceId: parseDeviceId(device_id),
      actuatorId: parseActuatorId(actuator_id),
      value: actuatorValue(actuator_value),
    };
    return { action, actionSpelling: 'typed' };
  }
  const isTyped = type !== undefined || value !== undefined;
  const { usernames, channels, message: text } = readSocial(isTyped ? (value ?? {}) : plain);
  const action: Action = {
    kind: 'message',
    usernames: distinct(usernames),
    channels: distinct(channels),
    message: text,
  };
  return { action, actionSpelling: isTyped ? 'typed' : 'plain' };
}

function actuatorValue(value: unknown): JsonValue {
  const bytes = Buffer.byteLength(JSON.stringify(value) ?? '');
  if (bytes <= limits.actuatorValueBytesMax) return value as JsonValue;
  throw invalid(`actuator_value must have at most ${limits.actuatorValueBytesMax} bytes as JSON`);
}

export function notificationToWire(
  { notification, tally }: TalliedNotification,
  { unreachable, goneDevices, unknownSensors }: Lacks = lacksNothing,
): Wire<typeof NotificationMessage> {
  const { id, description, condition, expires, throttlingSeconds, status } = notification;
  const { lastFiredAt, lastSuccessAt, lastSuccessCode } = tally;
  const { lastFailureAt, lastFailureReason } = tally;
  const fired = ifDefined(lastFiredAt, formatTimestamp);
  const note = listsIn(condition.expression);
  const problem = problemOf(condition.expression);
  const unknown = unknownUsernames(notification);
  return defined({
    id,
    description,
    condition: conditionToWire(condition),
    action: actionToWire(notification),
    expires,
    throttling: throttlingSeconds,
    status,
    ...(unknown.length > 0 && { unknown_usernames: unknown }),
    ...(unreachable.length > 0 && { unreachable }),
    ...(goneDevices.length > 0 && { gone_devices: goneDevices }),
    ...(unknownSensors.length > 0 && { unknown_sensors: unknownSensors }),
    expression_note: note,
    expression_problem: problem,
    owner: notification.owner,
    times_sent: tally.timesSent,
    // Both spellings [contract 3].
    ...{ last_notification: fired, last_notif: fired },
    last_success: ifDefined(lastSuccessAt, formatTimestamp),
    last_success_code: lastSuccessCode,
    last_failure: ifDefined(lastFailureAt, formatTimestamp),
    last_failure_reason: lastFailureReason,
    date_created: formatTimestamp(notification.createdAt),
    date_modified: formatTimestamp(notification.modifiedAt),
  });
}

function conditionToWire({ devices, sensors, expression, maxAgeSeconds }: Condition) {
  const age = maxAgeSeconds === undefined ? {} : { max_age: maxAgeSeconds };
  return { devices, sensors, expression, ...age };
}

function actionToWire({ action, actionSpelling }: NotificationDraft): Wire<typeof ActionMessage> {
  if (action.kind === 'actuation') {
    const { deviceId, actuatorId, value } = action;
    return {
      type: 'ActuationAction',
      value: { device_id: deviceId, actuator_id: actuatorId, actuator_value: value },
    };
  }
  const { usernames, channels, message } = action;
  const plain = { usernames, channels, message };
  return actionSpelling === 'plain' ? plain : { type: 'SocialAction', value: plain };
}
