/** Words of the first screen of a guest; the rest comes with the login. */
export const welcome = {
  title: 'Your sensors, in one place',
  what:
    'Kipimo keeps what your sensors measure and shows it to you, live, on any phone. It ' +
    'sends you a message when a value is too low or too high.',
  publicDevices: 'Public devices',
  publicHint: 'Everybody can see these. Yours can be private.',
} as const;
