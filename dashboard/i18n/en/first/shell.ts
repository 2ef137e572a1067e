/** Navigation, connection and session, beside home; the rest comes with the first other screen. */
export const shell = {
  navigation: 'Main',
  home: 'Home',
  map: 'Map',
  alerts: 'Alerts',
  more: 'More',
  gateways: 'Gateways',
  projects: 'Projects',
  sharing: 'Sharing',
  profile: 'Profile',
  users: 'Users',
  login: 'Log in',
  usage: 'Usage',
  signup: 'Sign up',
  skip: 'Skip to the content',
  offline: 'You are offline. You see what was last known.',
  remembered: 'Not refreshed: this is how it was {age}.',
} as const;
