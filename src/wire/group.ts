import Type from 'typebox';
import type { Group } from '../domain/groups/groups.ts';
import { parseUsername } from '../domain/ids.ts';
import { limits } from '../domain/limits.ts';
import { Message, Plain, Text, type Wire } from './fields.ts';
import { createReader } from './validation.ts';

const UsernamesMessage = Type.Array(Type.String(), {
  description: 'Usernames of accounts that exist.',
  maxItems: limits.groupMembersMax,
  examples: [['ama', 'kofi']],
});

const NewGroupMessage = Message('NewGroup', {
  name: Text('What the group is called.', 'Class 4B'),
  usernames: Type.Optional(UsernamesMessage),
});

export const GroupMessage = Message('Group', {
  id: Plain('Made up by the service.'),
  name: Text('What the group is called.', 'Class 4B'),
  owner: Plain('The username of who made it.'),
  usernames: UsernamesMessage,
});

/** Each username once, whatever its case. Throws invalid for what is no list of usernames. */
export const readUsernames = createReader(UsernamesMessage, 'usernames', (texts) => {
  const named = texts.map((text) => parseUsername(text.trim()));
  return [...new Map(named.map((username) => [username.toLowerCase(), username])).values()];
});

export const readGroup = createReader(NewGroupMessage, 'group', ({ name, usernames = [] }) => ({
  name,
  usernames: readUsernames(usernames),
}));

export function groupToWire({ id, name, owner, usernames }: Group): Wire<typeof GroupMessage> {
  return { id, name, owner, usernames };
}
