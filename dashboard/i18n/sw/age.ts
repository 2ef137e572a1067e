import type { Translation } from '../dictionary.ts';

/** How long ago something was. */
export const age: Translation<'age'> = {
  never: 'kamwe',
  now: 'sasa hivi',
  seconds: { one: 'sekunde {count} iliyopita', other: 'sekunde {count} zilizopita' },
  minutes: { one: 'dakika {count} iliyopita', other: 'dakika {count} zilizopita' },
  hours: { one: 'saa {count} iliyopita', other: 'saa {count} zilizopita' },
  days: { one: 'siku {count} iliyopita', other: 'siku {count} zilizopita' },
  months: { one: 'mwezi {count} uliopita', other: 'miezi {count} iliyopita' },
  years: { one: 'mwaka {count} uliopita', other: 'miaka {count} iliyopita' },
  ahead: 'wakati ujao',
};
