/** What a guest sees first, and the login over any screen. */
export const welcome = {
  title: 'Your sensors, in one place',
  what:
    'Kipimo keeps what your sensors measure and shows it to you, live, on any phone. It ' +
    'sends you a message when a value is too low or too high.',
  publicDevices: 'Public devices',
  publicHint: 'Everybody can see these. Yours can be private.',
  name: 'Username or e-mail',
  password: 'Password',
  stay: 'Stay logged in on this device',
  forgottenAsk: 'Forgotten your password?',
  nameNeeded: 'Type a username.',
  passwordNeeded: 'Type your password.',
} as const;
