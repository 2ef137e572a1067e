/** The name of the screen, for the navigation. */
export const messages = {
  title: 'Messages',
} as const;
