import { shell as first } from './first/shell.ts';

/** The frame of every screen: navigation, connection, session. */
export const shell = {
  ...first,
  ended: 'Your session has ended',
  endedText: 'Log in again to go on where you were, {name}.',
  staysGuest: 'Go on without logging in',
  reference: 'API reference',
  logout: 'Log out',
  loggedInAs: 'Logged in as {name}',
  missing: 'There is nothing at this address',
  missingText: 'It may have been deleted, or the link may be incomplete.',
  goHome: 'Go home',
  optional: 'optional',
  version: 'Kipimo {version}',
  install: 'Install this app',
} as const;
