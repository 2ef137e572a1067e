import { notConfigured } from '../socials/social.ts';
import { addressKey, isProven } from '../users/address-proofs.ts';
import type { User } from '../users/user.ts';
import type { Channel, Recipient } from './channel.ts';
import type { ChannelName } from './notification.ts';

/** Why a user cannot be reached by a channel, as far as that is known without a try. */
export function lackOf(
  channels: ReadonlyMap<string, Channel>,
  ...asked: Parameters<typeof recipientOf>
): string | undefined {
  const channel = channels.get(asked[2]);
  if (channel === undefined) return notConfigured(asked[2]);
  const to = recipientOf(...asked);
  return 'refusal' in to ? to.refusal : channel.lacks?.(to);
}

/** The user as a channel needs to know them, or why they cannot be reached by it. */
export function recipientOf(
  user: User | undefined,
  username: string,
  channel: ChannelName,
  options: { readonly mustBeProven: boolean } = { mustBeProven: false },
): Recipient | { readonly refusal: string } {
  if (user === undefined) return { refusal: `there is no user ${username}` };
  if (user.isDisabled) return { refusal: `the account of ${user.username} is disabled` };
  const { profile } = user;
  switch (channel) {
    case 'sms':
    case 'voice': {
      const phone = profile.phone?.[0];
      if (phone === undefined || phone === '') return none(user, 'telephone number');
      const dialled = e164(phone);
      if (dialled === undefined) {
        return {
          refusal: `the telephone number of ${user.username} lacks a country code, as in +233…`,
        };
      }
      return options.mustBeProven && !isProven(user, 'phone', phone)
        ? unproven(user, 'telephone number')
        : { username: user.username, phone: dialled };
    }
    case 'email':
      if (profile.email === undefined || profile.email === '') return none(user, 'e-mail address');
      return options.mustBeProven && !isProven(user, 'email', profile.email)
        ? unproven(user, 'e-mail address')
        : { username: user.username, email: profile.email };
    case 'twitter': {
      const twitter = profile.twitter?.[0]?.trim().replace(/^@/, '');
      return twitter === undefined || twitter === ''
        ? none(user, 'twitter account')
        : { username: user.username, twitter };
    }
    case 'webhook': {
      const webhook = profile.webhook?.[0];
      if (webhook === undefined || webhook === '') return none(user, 'webhook');
      const { username: name, webhookSecret } = user;
      return { username: name, webhook, ...(webhookSecret !== undefined && { webhookSecret }) };
    }
  }
}

const none = ({ username }: User, what: string): { readonly refusal: string } => ({
  refusal: `${username} has no ${what} in the profile`,
});

const unproven = ({ username }: User, what: string): { readonly refusal: string } => ({
  refusal:
    `${username} has not proven the ${what} yet: a code for it is asked for in the profile ` +
    '(POST /users/me/addresses/prove)',
});

/** A telephone number with its country code and without decoration, or undefined. */
export function e164(text: string): string | undefined {
  const plain = addressKey('phone', text);
  return /^\+[1-9]\d{6,14}$/.test(plain) ? plain : undefined;
}
