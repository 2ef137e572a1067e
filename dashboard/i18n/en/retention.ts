/** For how long values are kept, what goes next and when, and how to set it. */
export const retention = {
  title: 'How long values are kept',
  forEver: 'All values are kept for ever.',
  days: { one: 'Values are kept for {count} day.', other: 'Values are kept for {count} days.' },
  hours: {
    one: 'Hourly summaries are kept for {count} day.',
    other: 'Hourly summaries are kept for {count} days.',
  },
  hoursForEver: 'Hourly summaries are kept for ever.',
  noHours: 'Nothing older is kept.',
  sensor: 'This is set for the sensor.',
  device: 'This is set for the device.',
  user: 'This is set for the account of the owner.',
  service: 'This is set for the whole service.',
  nextNow: {
    one: '{count} value from before {before} will be deleted within an hour.',
    other: '{count} values from before {before} will be deleted within an hour.',
  },
  nextOn: {
    one: '{count} value from before {before} will be deleted on {day}.',
    other: '{count} values from before {before} will be deleted on {day}.',
  },
  nextNone: 'Nothing is deleted before {day}.',
  ownHolds: 'Sensors and devices with a setting of their own keep to that.',
  rawDays: 'Days that values are kept',
  hourlyDays: 'Days that hourly summaries are kept',
  empty: 'Empty: for ever.',
  hourlyHint:
    'Charts of long periods use the hourly summaries: lowest, highest and sum. Empty: ' +
    'for ever.',
  badDays: 'Enter a whole number of days, at most {max}, or nothing.',
  tooShort: 'Hourly summaries are kept at least as long as values.',
  askTitle: 'Delete old values?',
  ask: {
    one:
      'Values older than {count} day are deleted, now and from now on. This cannot be ' + 'undone.',
    other:
      'Values older than {count} days are deleted, now and from now on. This cannot be ' +
      'undone.',
  },
  older: { one: '{count} value is that old today.', other: '{count} values are that old today.' },
  doDelete: 'Delete old values',
  outer: 'Use the general setting',
  outerAsk:
    'The setting of the device, the account or the whole service applies again. That may ' +
    'delete old values.',
} as const;
