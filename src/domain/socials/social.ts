import type { Instant } from '../../lib/clock.ts';
import type { SocialId, Username } from '../ids.ts';

/** The ways to reach a user; `none` keeps the message and reaches nobody [contract 5, 7]. */
export const channels = ['twitter', 'sms', 'voice', 'email', 'webhook', 'none'] as const;
export type Channel = (typeof channels)[number];

/** How far a message came. */
export type SocialState =
  | { readonly status: 'pending' | 'sent' }
  | { readonly status: 'failed'; readonly reason: string };

/** A message from one user to one user on one channel. */
export type Social = SocialState & {
  readonly id: SocialId;
  readonly sender: Username;
  readonly recipient: Username;
  readonly channel: Channel;
  readonly message: string;
  readonly createdAt: Instant;
};
