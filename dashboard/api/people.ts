import type { Grant } from './types.ts';

/** The usernames in what was typed or pasted: one a line, or with commas, each once. */
export function namesIn(text: string): readonly string[] {
  const names = text.split(/[\s,;]+/).filter((name) => name !== '');
  return [...new Map(names.map((name) => [name.toLowerCase(), name])).values()];
}

/** Whom a grant is to, as one key: two of the same are one. */
export const granteeKey = ({ username, group }: Pick<Grant, 'username' | 'group'>): string =>
  username === undefined ? `group ${group ?? ''}` : `user ${username}`;
