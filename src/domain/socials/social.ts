import type { Instant } from '../../lib/clock.ts';
import type { SocialId, Username } from '../ids.ts';

/** The channels to a user; `none` keeps the message and sends nothing [contract 5, 7]. */
export const channels = ['twitter', 'sms', 'voice', 'email', 'webhook', 'none'] as const;
export type SocialChannel = (typeof channels)[number];

/** The key that names the provider of a channel [contract 1]. */
const keyOf: Readonly<Partial<Record<SocialChannel, string>>> = {
  twitter: 'KIPIMO_TWITTER_URL',
  sms: 'KIPIMO_SMS_URL',
  voice: 'KIPIMO_VOICE_URL',
  email: 'KIPIMO_SMTP_URL',
};

/** Why a channel leads nowhere, with the key to set [contract 7]. */
export function notConfigured(channel: SocialChannel): string {
  const key = keyOf[channel];
  const remedy = key === undefined ? '' : `: ${key} names its provider`;
  return `the channel ${channel} is not configured${remedy}`;
}

/** How far a message came. */
export type SocialState =
  | { readonly status: 'pending' | 'sent' }
  | { readonly status: 'failed'; readonly reason: string };

/** A message from one user to one user on one channel. */
export type Social = SocialState & {
  readonly id: SocialId;
  readonly sender: Username;
  readonly recipient: Username;
  readonly channel: SocialChannel;
  readonly message: string;
  readonly createdAt: Instant;
};
