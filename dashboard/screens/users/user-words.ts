import type { User } from '../../api/types.ts';

/** First and last name; empty when neither is known. */
export const fullName = ({ firstName = '', lastName = '' }: User): string =>
  `${firstName} ${lastName}`.trim();

/** Those in whose username, names or address every word of the text is found. */
export function usersThatFit(users: readonly User[], text: string): readonly User[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return users;
  return users.filter((user) => {
    const about = [user.username, fullName(user), user.email ?? '', ...(user.phone ?? [])];
    const whole = about.join(' ').toLowerCase();
    return words.every((word) => whole.includes(word));
  });
}

/** What is typed as the credit: a number, none at all for no limit, undefined for neither. */
export function creditOf(text: string): number | 'unlimited' | undefined {
  const plain = text.trim();
  if (plain === '') return 'unlimited';
  const number = Number(plain);
  return /^\d+$/.test(plain) && Number.isSafeInteger(number) ? number : undefined;
}
