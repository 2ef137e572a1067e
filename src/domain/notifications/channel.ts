import type { Instant } from '../../lib/clock.ts';
import type { Username } from '../ids.ts';

/** How a user can be reached: what the profile holds, the first entry of each field. */
export interface Recipient {
  readonly username: Username;
  /** E.164, with the country code. */
  readonly phone?: string;
  readonly email?: string;
  /** An account of X, without the @ sign. */
  readonly twitter?: string;
  /** An https address of the user's own. */
  readonly webhook?: string;
  /** Secret that signs messages to the webhook; absent: an account older than stored secrets. */
  readonly webhookSecret?: string;
}

/** A message to one user; a second try has the same `deliveryId`. */
export interface ChannelMessage {
  readonly deliveryId: string;
  readonly to: Recipient;
  readonly text: string;
  /** The notification that fired; absent for social messages. */
  readonly notificationId?: string;
  readonly createdAt: Instant;
}

/** The outcome of one try; `reason` is shown to users. */
export type Outcome =
  | { readonly kind: 'sent' }
  | { readonly kind: 'retry'; readonly reason: string; readonly afterMs?: number }
  | { readonly kind: 'refused'; readonly reason: string };

/** Sends messages to users. Answers; never throws for what a provider does. */
export interface Channel {
  send(message: ChannelMessage, signal: AbortSignal): Promise<Outcome>;
  /** Where its messages go to, when users name it: an address, of IPv6 a network. */
  networkOf?(to: Recipient): Promise<string | undefined>;
  /** Why it will refuse every message to somebody, where that is known without a try. */
  lacks?(to: Recipient): string | undefined;
}

/** The text of a call, said once it is picked up. */
export interface CallText {
  readonly callId: string;
  readonly text: string;
  /** The text is given to no provider afterwards. */
  readonly until: Instant;
}

/** Texts of calls that ring: the provider asks for them, maybe another process or a later one. */
export interface CallTextStore {
  /**
   * Keeps the text of a call, instead of one of before. Texts that ended before `now` go, and of
   * more than `limits.callTextsMax` those that end first.
   */
  put(text: CallText, now: Instant): Promise<void>;
  /** The text, also when it has ended and is still there. */
  find(callId: string): Promise<CallText | undefined>;
}
