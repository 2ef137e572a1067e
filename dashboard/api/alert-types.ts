import type {
  ChannelMessage,
  DeliveryMessage,
  EvaluationMessage,
  PreviewMessage,
} from '../../src/wire/delivery.ts';
import type { Wire } from '../../src/wire/fields.ts';
import type { NewNotificationMessage, NotificationMessage } from '../../src/wire/notification.ts';

/** Notifications as API version 2 answers them; the screens call them alerts. */
export type Notification = Omit<Wire<typeof NotificationMessage>, 'condition' | 'action'> &
  Pick<NotificationDraft, 'condition' | 'action'>;

/** A new one, as the service answers it later: with a whole condition, and one kind of action. */
export type NotificationDraft = Omit<
  Wire<typeof NewNotificationMessage>,
  'condition' | 'action' | 'status'
> & {
  readonly condition: Required<Omit<WireCondition, 'max_age'>> & Pick<WireCondition, 'max_age'>;
  readonly action: NotificationAction;
};

type WireCondition = Wire<typeof NewNotificationMessage>['condition'];
type AnyAction = Wire<typeof NewNotificationMessage>['action'];
type AnyValue = NonNullable<AnyAction['value']>;

export type MessageAction = Required<Pick<AnyAction, 'usernames' | 'message'>> & {
  /** The screens show what they do not know, too. */
  readonly channels: readonly string[];
};
export type ActuationAction = Required<
  Pick<AnyValue, 'device_id' | 'actuator_id' | 'actuator_value'>
>;

/** Plain, or with its type named. */
export type NotificationAction =
  | MessageAction
  | { readonly type: 'SocialAction'; readonly value: MessageAction }
  | { readonly type: 'ActuationAction'; readonly value: ActuationAction };

export type ChannelState = Wire<typeof ChannelMessage>;
export type ChannelName = ChannelState['channel'];
export type Delivery = Wire<typeof DeliveryMessage>;
export type Evaluation = Wire<typeof EvaluationMessage>;
export type Preview = Wire<typeof PreviewMessage>;

/** In the order of the forms. */
export const channelNames: readonly ChannelName[] = [
  ...(['sms', 'voice', 'twitter', 'email', 'webhook'] as const),
];
