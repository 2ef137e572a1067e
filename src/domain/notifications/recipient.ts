import type { User } from '../users/user.ts';
import type { Recipient } from './channel.ts';
import type { ChannelName } from './notification.ts';

/** The user as a channel needs to know them, or why they cannot be reached by it. */
export function recipientOf(
  user: User | undefined,
  username: string,
  channel: ChannelName,
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
      return dialled === undefined
        ? { refusal: `the telephone number of ${user.username} lacks a country code, as in +233…` }
        : { username: user.username, phone: dialled };
    }
    case 'email':
      return profile.email === undefined || profile.email === ''
        ? none(user, 'e-mail address')
        : { username: user.username, email: profile.email };
    case 'twitter': {
      const twitter = profile.twitter?.[0]?.trim().replace(/^@/, '');
      return twitter === undefined || twitter === ''
        ? none(user, 'twitter account')
        : { username: user.username, twitter };
    }
    case 'webhook': {
      const webhook = profile.webhook?.[0];
      return webhook === undefined || webhook === ''
        ? none(user, 'webhook')
        : { username: user.username, webhook };
    }
  }
}

const none = ({ username }: User, what: string): { readonly refusal: string } => ({
  refusal: `${username} has no ${what} in the profile`,
});

/** A telephone number with its country code and without decoration, or undefined. */
export function e164(text: string): string | undefined {
  const plain = text.replace(/[\s().\-/]/g, '').replace(/^00/, '+');
  return /^\+[1-9]\d{6,14}$/.test(plain) ? plain : undefined;
}
