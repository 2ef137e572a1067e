import type { User } from './types.ts';

/** A profile as forms hold it: every field is a text; lists are separated by line or comma. */
export interface ProfileDraft {
  readonly firstName: string;
  readonly lastName: string;
  readonly email: string;
  readonly phone: string;
  readonly address: string;
  readonly facebook: string;
  readonly twitter: string;
}

export const profileFields = [
  'firstName',
  'lastName',
  'email',
  'phone',
  'address',
  'facebook',
  'twitter',
] as const;

export const emptyProfile: ProfileDraft = {
  firstName: '',
  lastName: '',
  email: '',
  phone: '',
  address: '',
  facebook: '',
  twitter: '',
};

export function draftOf(user: User): ProfileDraft {
  const draft: Record<keyof ProfileDraft, string> = { ...emptyProfile };
  for (const field of profileFields) {
    const value = user[field];
    draft[field] = typeof value === 'string' ? value : (value ?? []).join(', ');
  }
  return draft;
}

/** As the API takes it. Fields that are empty are left out, or sent as null to remove them. */
export function profileMessage(
  draft: ProfileDraft,
  { removesEmpty }: { readonly removesEmpty: boolean },
): Readonly<Record<string, unknown>> {
  const message: Record<string, unknown> = {};
  for (const field of profileFields) {
    const text = draft[field].trim();
    if (text !== '') message[field] = fieldValue(field, text);
    else if (removesEmpty) message[field] = null;
  }
  return message;
}

function fieldValue(field: keyof ProfileDraft, text: string): string | readonly string[] {
  switch (field) {
    case 'phone':
    case 'facebook':
    case 'twitter':
      return listOf(text, field);
    case 'address':
      // A postal address has commas of its own.
      return [text];
    default:
      return text;
  }
}

function listOf(text: string, field: 'phone' | 'facebook' | 'twitter'): readonly string[] {
  return text
    .split(/[,;\n]/)
    .map((part) => part.trim())
    .map((part) => (field === 'twitter' ? part.replace(/^@/, '') : part))
    .filter((part) => part !== '');
}
