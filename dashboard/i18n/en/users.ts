/** Accounts, for administrators. */
export const users = {
  one: 'User',
  all: 'All users',
  adminsOnly: 'Only administrators can see this.',
  search: 'Search users',
  searchHint: 'Username, name, e-mail or phone',
  count: { one: '{count} user', other: '{count} users' },
  tooMany: 'Only the first {count} are listed. Search to see others.',
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
  show: 'Show',
  showAll: 'Everybody',
  showNever: 'Never logged in',
  showInactive: {
    one: 'Not logged in for {count} day',
    other: 'Not logged in for {count} days',
  },
  showAdmins: 'Administrators',
  showLocked: 'Cannot log in',
  lastLogin: 'last login {date}',
  neverLoggedIn: 'never logged in',
  choose: 'Choose {name}',
  chooseAll: { one: 'Choose {count} user', other: 'Choose all {count}' },
  several: { one: 'With {count} user', other: 'With {count} users' },
  severalGo: 'Continue',
  severalBusy: '{done} of {count}…',
  severalDone: { one: '{count} account is changed', other: '{count} accounts are changed' },
  passwords: 'New passwords, with slips',
  passwordsText: {
    one:
      'Makes a new password for {count} user, who is logged out everywhere and chooses a ' +
      'password of their own at the next login. You get a slip to print.',
    other:
      'Makes new passwords for {count} users, who are logged out everywhere and choose ' +
      'passwords of their own at the next login. You get slips to print.',
  },
  passwordsDo: { one: 'Make {count} password', other: 'Make {count} passwords' },
  newPasswords: 'New passwords',
  creditText: {
    one: 'Sets for {count} user how many messages are left.',
    other: 'Sets for each of {count} users how many messages are left.',
  },
  creditDo: { one: 'Set for {count} user', other: 'Set for {count} users' },
  lock: 'Lock out',
  lockText: {
    one:
      '{count} user can no longer log in, and the keys of this account end. Devices and ' +
      'values stay.',
    other:
      '{count} users can no longer log in, and the keys of these accounts end. Devices and ' +
      'values stay.',
  },
  lockDo: { one: 'Lock out {count} user', other: 'Lock out {count} users' },
  unlock: 'Let log in again',
  unlockText: {
    one: '{count} user can log in again, with new keys.',
    other: '{count} users can log in again, with new keys.',
  },
  unlockDo: { one: 'Let {count} user log in', other: 'Let {count} users log in' },
  deleteSeveralText: {
    one:
      'Deletes {count} account with all its devices, values, alerts and keys. This cannot ' +
      'be undone.',
    other:
      'Deletes {count} accounts with all their devices, values, alerts and keys. This ' +
      'cannot be undone.',
  },
  deleteDevices: {
    one: '{count} device is deleted with them.',
    other: '{count} devices are deleted with them.',
  },
  deleteSeveralDo: { one: 'Delete {count} account', other: 'Delete {count} accounts' },
  deleteSeveral: 'Delete',
  slipName: 'Name',
  slipsDone: 'Back to the users',
  importTitle: 'Accounts for a class',
  importText: 'Choose a list as a spreadsheet saves it (CSV). Its first line names the columns:',
  importColumns:
    'username, and any of name, firstName, lastName, email, phone, group, password. ' +
    'Without a password one is made up.',
  importFile: 'The list',
  importNoFile: 'Choose a file first.',
  importDo: 'Create the accounts',
  importBusy: 'Creating the accounts…',
  importMade: { one: '{count} account is created', other: '{count} accounts are created' },
  importRefused: { one: '{count} row was not taken', other: '{count} rows were not taken' },
  importAgain: 'Another list',
  slips: 'Slips',
  slipsOnce: 'Print the slips now: the passwords are not shown again.',
  slipsPrint: 'Print the slips',
  slipAddress: 'Address',
  slipGiven: 'as on the list',
  initialTitle: 'Choose a password of your own',
  initialText: 'Somebody else knows your password. Choose one that only you know.',
  initialDo: 'Change the password',
  initialLater: 'Later',
} as const;
