/** Notifications as API version 2 has them; the screens call them alerts. */
export interface Notification extends NotificationDraft {
  readonly id: string;
  readonly status: 'active' | 'inactive';
  readonly owner: string;
  /** What is wrong with an expression that was stored before such were refused. */
  readonly expression_problem?: string;
  readonly times_sent: number;
  readonly last_notification?: string;
  readonly last_success?: string;
  readonly last_failure?: string;
  readonly last_failure_reason?: string;
  readonly date_created: string;
}

export interface NotificationDraft {
  readonly description?: string;
  readonly condition: {
    readonly devices: readonly string[];
    readonly sensors: readonly string[];
    readonly expression: string;
  };
  readonly action: NotificationAction;
  readonly expires?: string;
  readonly throttling?: number;
}

export interface MessageAction {
  readonly usernames: readonly string[];
  readonly channels: readonly string[];
  readonly message: string;
}

export interface ActuationAction {
  readonly device_id: string;
  readonly actuator_id: string;
  readonly actuator_value: unknown;
}

/** Plain, or with its type named. */
export type NotificationAction =
  | MessageAction
  | { readonly type: 'SocialAction'; readonly value: MessageAction }
  | { readonly type: 'ActuationAction'; readonly value: ActuationAction };

export const channelNames = ['sms', 'voice', 'twitter', 'email', 'webhook'] as const;
export type ChannelName = (typeof channelNames)[number];

export interface ChannelState {
  readonly channel: ChannelName;
  readonly configured: boolean;
  readonly reachable: boolean;
  readonly reason?: string;
}

export interface Delivery {
  readonly username: string;
  readonly channel: string;
  readonly message: string;
  readonly status: 'pending' | 'sent' | 'failed';
  readonly attempts: number;
  readonly created: string;
  readonly sent?: string;
  readonly next_attempt?: string;
  readonly reason?: string;
}

export const outcomes = [
  'sent',
  'false',
  'waiting',
  'raised',
  'cleared',
  'throttled',
  'expired',
  'inactive',
  'not_watched',
  'no_right',
  'not_stored',
] as const;

export interface Evaluation {
  readonly timestamp: string;
  readonly device_id: string;
  readonly sensor_id: string;
  readonly value?: unknown;
  readonly outcome: (typeof outcomes)[number];
}

export interface Preview {
  readonly fired: number;
  readonly throttled: number;
  readonly datapoints: number;
  readonly firings: readonly {
    readonly timestamp: string;
    readonly device_id: string;
    readonly message?: string;
  }[];
}
