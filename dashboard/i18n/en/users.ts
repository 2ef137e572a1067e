/** Accounts, for administrators. */
export const users = {
  one: 'User',
  all: 'All users',
  adminsOnly: 'Only administrators can see this.',
  search: 'Search users',
  searchHint: 'Username, name or e-mail',
  count: { one: '{count} user', other: '{count} users' },
  found: '{shown} of {count}',
  tooMany:
    'Only the first {count} accounts are searched. Newer ones are found by their exact ' +
    'username.',
  nobody: 'Nobody matches',
  showMore: 'Show more',
  new: 'New user',
  created: '{name} can log in now',
  create: 'Create the account',
  password: 'Password',
  admin: 'Administrator',
  adminText: 'Can see and change everything',
  disabled: 'locked out',
  enabledText: 'Can log in',
  since: 'since {date}',
  contact: 'Contact details',
  credit: 'Messages by SMS or phone',
  creditHint: 'How many are left. Empty: without limit.',
  creditBad: 'Type a whole number, or nothing.',
  creditLeft: { one: '{count} SMS left', other: '{count} SMS left' },
  saved: 'Saved',
  newPassword: 'Set a new password',
  newPasswordText: 'This logs the person out everywhere. Tell them the new password yourself.',
  passwordSet: 'The new password is set',
  self: 'This is you: change your own account in your profile.',
  delete: 'Delete this account',
  deleteText:
    'Deletes {name} with all devices, values, alerts and keys of this account. ' +
    'This cannot be undone.',
  deleted: '{name} is deleted',
} as const;
