/** What guests read in place of a map beside the first cards; the rest comes with a map. */
export const map = {
  failed: 'The map could not be loaded.',
  withoutPlace: {
    one: '{count} device has no place yet',
    other: '{count} devices have no place yet',
  },
  nobody: 'Nothing here has a place yet.',
} as const;
