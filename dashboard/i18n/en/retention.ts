/** For how long values are kept, what goes next and when, and how to set it. */
export const retention = {
  title: 'How long values are kept',
  forEver: 'All values are kept for ever.',
  days: { one: 'Values are kept for {count} day.', other: 'Values are kept for {count} days.' },
  hours: {
    one: 'What each hour came to is kept for {count} day.',
    other: 'What each hour came to is kept for {count} days.',
  },
  hoursForEver: 'What each hour came to is kept for ever.',
  noHours: 'Of older ones nothing is left.',
  sensor: 'This is set for the sensor.',
  device: 'This is set for the device.',
  user: 'This is set for the account of the owner.',
  service: 'This is set for the whole service.',
  nextNow: {
    one: '{count} value from before {before} goes within an hour.',
    other: '{count} values from before {before} go within an hour.',
  },
  nextOn: {
    one: '{count} value from before {before} goes on {day}.',
    other: '{count} values from before {before} go on {day}.',
  },
  nextNone: 'Before {day} nothing goes.',
  ownHolds: 'Sensors and devices for which something of their own is set follow that.',
  rawDays: 'Days that values are kept',
  hourlyDays: 'Days that hours are kept',
  empty: 'Empty: for ever.',
  hourlyHint:
    'Charts of long times go on from hours: the least, the greatest and the sum. Empty: for ever.',
  badDays: 'Give a whole number of days, {max} at most, or nothing.',
  tooShort: 'Hours are kept at least as long as values.',
  askTitle: 'Delete old values?',
  ask: {
    one:
      'Values that are older than {count} day are deleted, now and from now on. There is no way ' +
      'back.',
    other:
      'Values that are older than {count} days are deleted, now and from now on. There is no way ' +
      'back.',
  },
  older: { one: '{count} value is that old today.', other: '{count} values are that old today.' },
  doDelete: 'Delete old values',
  outer: 'Set nothing here',
  outerAsk:
    'What is set for the device, the account or the whole service holds again. That may delete ' +
    'old values.',
} as const;
