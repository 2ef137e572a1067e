import Type from 'typebox';
import type { Group } from '../domain/groups/groups.ts';
import { parseUsername, type Username } from '../domain/ids.ts';
import { limits } from '../domain/limits.ts';
import { Plain, Text, type Wire } from './fields.ts';
import { createReader } from './validation.ts';

export const UsernamesMessage = Type.Array(Type.String(), {
  description: 'Usernames of accounts that exist.',
  maxItems: limits.groupMembersMax,
  examples: [['ama', 'kofi']],
});

export const NewGroupMessage = Type.Object(
  {
    name: Text('What the group is called.', 'Class 4B'),
    usernames: Type.Optional(UsernamesMessage),
  },
  { title: 'NewGroup' },
);

export const GroupMessage = Type.Object(
  {
    id: Plain('Made up by the service.'),
    name: Text('What the group is called.', 'Class 4B'),
    owner: Plain('The username of who made it.'),
    usernames: UsernamesMessage,
  },
  { title: 'Group' },
);

const readNewGroup = createReader(NewGroupMessage, 'group');
const readUsernames = createReader(UsernamesMessage, 'usernames');

/** Each username once, whatever its case. Throws invalid for what is no list of usernames. */
export function usernamesFromWire(message: unknown): readonly Username[] {
  const named = readUsernames(message).map((text) => parseUsername(text.trim()));
  return [...new Map(named.map((username) => [username.toLowerCase(), username])).values()];
}

export function newGroupFromWire(message: unknown): {
  name: string;
  usernames: readonly Username[];
} {
  const { name, usernames = [] } = readNewGroup(message);
  return { name, usernames: usernamesFromWire(usernames) };
}

export function groupToWire({ id, name, owner, usernames }: Group): Wire<typeof GroupMessage> {
  return { id, name, owner, usernames };
}
