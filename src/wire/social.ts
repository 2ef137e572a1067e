import Type, { type Static } from 'typebox';
import { limits } from '../domain/limits.ts';
import { channels, type NewSocials, type Social } from '../domain/socials/socials.ts';
import { formatTimestamp } from '../lib/timestamp.ts';
import { DateText, Message, OneOf, Plain } from './fields.ts';
import { createReader } from './validation.ts';

const Recipient = Type.String({
  description: 'The username of the recipient.',
  minLength: 1,
  maxLength: limits.usernameCharactersMax,
  examples: ['ama'],
});
const ChannelWord = OneOf(channels, 'The way to the recipient; none keeps the message only.');
const MessageText = Type.String({
  description: 'What is said.',
  minLength: 1,
  maxLength: limits.messageCharactersMax,
  examples: ['The water tank is empty.'],
});

const NewSocialMessage = Message('NewSocialMessage', {
  username: Recipient,
  channel: ChannelWord,
  message: MessageText,
});

const SocialBatchMessage = Message('SocialBatch', {
  usernames: Type.Array(Recipient, {
    description: `With the channels at most ${limits.socialsPerBatchMax} messages.`,
    minItems: 1,
    maxItems: limits.socialsPerBatchMax,
  }),
  channels: Type.Array(ChannelWord, { minItems: 1, maxItems: limits.socialsPerBatchMax }),
  message: MessageText,
});

export const SocialMessage = Message('SocialMessage', {
  id: Type.String(),
  username: Recipient,
  channel: ChannelWord,
  message: MessageText,
  from: Plain('The username of the sender.'),
  status: OneOf(['pending', 'sent', 'failed'], 'How far the message came.'),
  reason: Type.Optional(Plain('Why it failed.')),
  created: DateText('Set by the service.'),
});

export const readSocial = createReader(
  NewSocialMessage,
  'message',
  ({ username, channel, message }): NewSocials => {
    return { usernames: [username], channels: [channel], message };
  },
);

export const readSocialBatch = createReader(SocialBatchMessage, 'batch');

export function socialToWire(social: Social): Static<typeof SocialMessage> {
  const { id, sender, recipient, channel, message, createdAt } = social;
  return {
    id,
    username: recipient,
    channel,
    message,
    from: sender,
    status: social.status,
    ...(social.status === 'failed' && { reason: social.reason }),
    created: formatTimestamp(createdAt),
  };
}
