/** Saying that values are wrong: taking them away, putting them right, undoing that. */
export const corrections = {
  hint: 'Tap a value if it is wrong.',
  thisWrong: 'This is wrong',
  stretchWrong: 'A period is wrong',
  title: 'What is wrong?',
  one: 'One value',
  stretch: 'A period of time',
  which: 'Which value is wrong?',
  rightValue: 'What it should be',
  takeAway: 'Remove it',
  putRight: 'Correct it',
  inStretch: {
    one: '{count} value will be removed. You can undo this for 30 days.',
    other: '{count} values will be removed. You can undo this for 30 days.',
  },
  tooMany: 'There are many values here. Zoom in and tap again, or choose a period of time.',
  unreachable: 'With the calibration of this sensor, no value can show like this.',
  nothing: 'There is no value here any more.',
  removed: {
    one: '{count} value removed',
    other: '{count} values removed',
  },
  corrected: {
    one: '{count} value corrected',
    other: '{count} values corrected',
  },
  undone: 'Undone: the values are as they were.',
  list: 'Removed and corrected values',
  none: 'None so far.',
  by: 'by {name}',
} as const;
