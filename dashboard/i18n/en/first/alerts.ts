/** What home says of alerts; the rest comes with the first other screen. */
export const alerts = {
  testCompare: '{sensor} {comparison} {value}',
  testRange: '{sensor} {comparison} {low} and {high}',
  testSilent: '{sensor} {comparison} {time}',
  'is-below': 'is below',
  'is-above': 'is above',
  'is-atMost': 'is at most',
  'is-atLeast': 'is at least',
  'is-between': 'is between',
  'is-outside': 'is not between',
  'is-equals': 'is',
  'is-differs': 'is not',
  'is-silent': 'sends nothing for',
  'is-any': 'sends a value',
  needs: { one: '{count} device needs attention', other: '{count} devices need attention' },
  needsSome: {
    one: '{count} of the devices shown needs attention',
    other: '{count} of the devices shown need attention',
  },
} as const;
