import { messages as first } from './first/messages.ts';

/** Messages between people. */
export const messages = {
  ...first,
  in: 'Received',
  write: 'New message',
  out: 'Sent',
  'none-in': 'Nobody has written to you yet.',
  'none-out': 'You have not written to anybody yet.',
  newest: 'These are among the newest {count}.',
  keptOnly: 'kept here only',
  toWhom: 'to {name}',
  deleted: 'The message is deleted',
  delete: 'Delete this message',
  deleteText: 'It disappears for both of you. What was sent by SMS or e-mail stays with them.',
  recipients: 'To',
  text: 'Message',
  also: 'Also send it by (otherwise they read it only here)',
  send: 'Send',
  sent: 'The message is on its way',
} as const;
