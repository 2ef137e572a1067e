import type { Grant, MyGrants } from './types.ts';

/** The usernames in what was typed or pasted: one a line, or with commas, each once. */
export function namesIn(text: string): readonly string[] {
  const names = text.split(/[\s,;]+/).filter((name) => name !== '');
  return [...new Map(names.map((name) => [name.toLowerCase(), name])).values()];
}

/** Whom a grant is to, as one key: two of the same are one. */
export const granteeKey = ({ username, group }: Pick<Grant, 'username' | 'group'>): string =>
  username === undefined ? `group ${group ?? ''}` : `user ${username}`;

/** The ids of what is shared with somebody, by kind. */
export function receivedIds(grants: MyGrants, kind: string): readonly string[] {
  const ids = grants.received.filter((grant) => grant.kind === kind);
  return [...new Set(ids.map(({ resource }) => resource))];
}
