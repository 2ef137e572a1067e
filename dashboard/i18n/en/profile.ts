/** The own account. */
export const profile = {
  title: 'Profile',
  contact: 'About you',
  saved: 'Your profile is saved',
  look: 'Language and look',
  language: 'Language',
  theme: 'Colours',
  system: 'as the device',
  light: 'light',
  dark: 'dark',
  password: 'Password',
  newPassword: 'New password',
  changePassword: 'Change the password',
  passwordChanged: 'The password is changed. All other places are logged out.',
  keys: 'Keys',
  keysText:
    'For gateways, devices and programs, which cannot log in again every ten minutes. ' +
    'A key works in place of a token or a password.',
  keysNone: 'You have no keys.',
  keyName: 'What it is for',
  keyNameHint: 'For instance: gateway on the school roof.',
  keyNameNeeded: 'Say what it is for.',
  keyRights: 'It may',
  keyAll: 'do all I may, except for my account',
  keySend: 'only send values',
  keyRead: 'only read',
  keyMake: 'Make a key',
  keyShown: 'This is the key. It is shown this once: copy it now.',
  keyMade: 'made {age}',
  keyExpires: 'until {date}',
  keyDelete: 'Delete',
  keyDeleteText: 'Whatever uses the key {name} stops working at once.',
  keyDeleted: 'The key {name} is deleted',
  take: 'Take your data with you',
  takeText:
    'Each device has its values as CSV under CSV. This file has everything else: your ' +
    'profile, devices, alerts, keys without their secrets, and who shares what.',
  takeDo: 'Download my account',
  taking: 'Collecting…',
  delete: 'Delete my account',
  deleteText:
    'Deletes your account {name}, your devices, and every value they ever sent. This ' +
    'cannot be undone. Type your username to go on.',
  deleteConfirm: 'Your username',
  deleted: 'Your account is deleted',
  smsCredit: { one: '{count} text message left', other: '{count} text messages left' },
} as const;
