import Type, { type Static } from 'typebox';
import type { FiledDelivery } from '../domain/notifications/delivery.ts';
import { type Evaluation, evaluationOutcomes } from '../domain/notifications/evaluations.ts';
import { listsIn } from '../domain/notifications/expression.ts';
import { channelNames } from '../domain/notifications/notification.ts';
import type { Previewed } from '../domain/notifications/preview.ts';
import type { ChannelState } from '../domain/notifications/test-messages.ts';
import { defined, ifDefined } from '../lib/record.ts';
import { formatTimestamp } from '../lib/timestamp.ts';
import { readInstant } from './datapoint.ts';
import { Anything, DateText, Flag, Message, OneOf, optional, Plain, Whole } from './fields.ts';
import { ExpressionNote, NewNotificationMessage, readNotification } from './notification.ts';
import { createReader } from './validation.ts';

export const DeliveryMessage = Message('Delivery', {
  username: Type.String(),
  channel: Plain('A channel, or actuation.'),
  message: Type.String(),
  status: OneOf(['pending', 'sent', 'failed'], 'How far it came.'),
  attempts: Type.Integer(),
  created: DateText('When it was filed.'),
  ...optional({
    sent: DateText('When it left.'),
    next_attempt: DateText('When it is tried next.'),
    reason: Plain('What went wrong last.'),
  }),
});

export function deliveryToWire(delivery: FiledDelivery): Static<typeof DeliveryMessage> {
  const { username, channel, message, attempts, createdAt, progress } = delivery;
  const reason = progress.status === 'sent' ? undefined : progress.reason;
  return defined({
    username,
    channel,
    message,
    status: progress.status,
    attempts,
    created: formatTimestamp(createdAt),
    ...(progress.status === 'sent' && { sent: formatTimestamp(progress.sentAt) }),
    ...(progress.status === 'pending' && { next_attempt: formatTimestamp(progress.dueAt) }),
    reason,
  });
}

export const EvaluationMessage = Message('Evaluation', {
  timestamp: DateText('When it was looked at.'),
  device_id: Type.String(),
  sensor_id: Plain('The sensor that was pushed to, or was silent.'),
  value: Type.Optional(Anything('What was pushed; absent for a silence.')),
  outcome: OneOf(
    Object.keys(evaluationOutcomes) as (keyof typeof evaluationOutcomes)[],
    Object.entries(evaluationOutcomes)
      .map(([outcome, meaning]) => `${outcome}: ${meaning}`)
      .join(' '),
  ),
});

export const evaluationToWire = (evaluation: Evaluation): Static<typeof EvaluationMessage> =>
  defined({ ...seenToWire(evaluation), outcome: evaluation.outcome });

const seenToWire = ({ at, deviceId, sensorId, value }: Omit<Evaluation, 'outcome'>) => ({
  timestamp: formatTimestamp(at),
  device_id: deviceId,
  sensor_id: sensorId,
  value,
});

const PreviewRequestMessage = Message('PreviewRequest', {
  notification: NewNotificationMessage,
  from: DateText('The beginning of the time to look at.'),
  to: Type.Optional(DateText('Its end; absent: now.')),
});

export const PreviewMessage = Message('Preview', {
  fired: Whole('How often it would have fired.'),
  throttled: Whole('How often throttling would have held it back.'),
  datapoints: Whole('How many datapoints were looked at.'),
  came_late: Whole(
    'How many of them came so late, after newer ones of their sensor or later than max_age ' +
      'allows, that they would not have counted: here all count as if they had come in time.',
  ),
  expression_note: Type.Optional(ExpressionNote),
  firings: Type.Array(
    Type.Object({
      timestamp: DateText('When it would have fired.'),
      device_id: Type.String(),
      sensor_id: Type.String(),
      value: Type.Optional(Anything('What was pushed; absent for a silence.')),
      message: Type.Optional(Plain('Absent for an actuator.')),
    }),
    { description: 'The first of them.' },
  ),
});

export const readPreviewRequest = createReader(
  PreviewRequestMessage,
  'preview',
  ({ notification, from, to }) =>
    defined({
      from: readInstant(from, 'from'),
      to: ifDefined(to, (to) => readInstant(to, 'to')),
      notification: readNotification(notification),
    }),
);

export function previewToWire(
  previewed: Previewed,
  expression: string,
): Static<typeof PreviewMessage> {
  const { fired, throttled, datapoints, firings, cameLate } = previewed;
  const note = listsIn(expression);
  return defined({
    fired,
    throttled,
    datapoints,
    came_late: cameLate,
    expression_note: note,
    firings: firings.map((one) => defined({ ...seenToWire(one), message: one.message })),
  });
}

export const ChannelMessage = Message('Channel', {
  channel: OneOf(channelNames, 'A way to reach you.'),
  configured: Flag('Whether this service can use it.'),
  reachable: Flag('Whether a message would find you by it.'),
  reason: Type.Optional(Plain('What is missing.')),
});

export function channelToWire(state: ChannelState): Static<typeof ChannelMessage> {
  const { channel, isConfigured, reason } = state;
  return defined({ channel, configured: isConfigured, reachable: reason === undefined, reason });
}

export const TestOutcomeMessage = Message('TestOutcome', {
  status: OneOf(['sent', 'failed'], 'Whether the provider took it.'),
  reason: Type.Optional(Plain('Why it failed.')),
});
