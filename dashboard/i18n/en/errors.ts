/** What went wrong, and what to do. */
export const errors = {
  offline: 'The service cannot be reached. Check your connection, then try again.',
  unavailable: 'The service is busy. Try again in a moment.',
  internal: 'The service failed. Try again. If it goes on, tell the administrator.',
  forbidden: 'You are not allowed to do this. Ask the owner to share it with you.',
  notFound: 'This is not there any more.',
  tooLarge: 'This is too large for the service.',
  rateLimited: 'Too many attempts. Try again in {count} s.',
  loggedOut: 'Log in to do this.',
  badLogin: 'Username or password is wrong.',
  screen: 'This screen could not be loaded. Check your connection, then try again.',
  crash: 'This screen has failed. Load it again; what you saved is safe.',
} as const;
