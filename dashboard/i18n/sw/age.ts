import type { Translation } from '../dictionary.ts';

/** How long ago something was. */
export const age: Translation<'age'> = {
  never: 'kamwe',
  now: 'sasa hivi',
  seconds: 'sekunde {count} zilizopita',
  minutes: 'dakika {count} zilizopita',
  hours: 'saa {count} zilizopita',
  days: { one: 'siku {count} iliyopita', other: 'siku {count} zilizopita' },
  months: { one: 'mwezi {count} uliopita', other: 'miezi {count} iliyopita' },
  years: { one: 'mwaka {count} uliopita', other: 'miaka {count} iliyopita' },
  ahead: 'wakati ujao',
};
