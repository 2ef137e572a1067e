/** How long ago something was. */
export const age = {
  never: 'never',
  now: 'just now',
  seconds: '{count} s ago',
  minutes: '{count} min ago',
  hours: '{count} h ago',
  days: { one: '{count} day ago', other: '{count} days ago' },
  months: { one: '{count} month ago', other: '{count} months ago' },
  years: { one: '{count} year ago', other: '{count} years ago' },
  ahead: 'in the future',
} as const;
