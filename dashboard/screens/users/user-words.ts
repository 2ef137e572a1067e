import type { User } from '../../api/types.ts';

/** First and last name; empty when neither is known. */
export const fullName = ({
  firstName = '',
  lastName = '',
}: Pick<User, 'firstName' | 'lastName'>): string => `${firstName} ${lastName}`.trim();

/** What is typed as the credit: a number, none at all for no limit, undefined for neither. */
export function creditOf(text: string): number | 'unlimited' | undefined {
  const plain = text.trim();
  if (plain === '') return 'unlimited';
  const number = Number(plain);
  return /^\d+$/.test(plain) && Number.isSafeInteger(number) ? number : undefined;
}
