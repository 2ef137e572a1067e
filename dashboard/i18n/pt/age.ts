import type { Translation } from '../dictionary.ts';

/** How long ago something was. */
export const age: Translation<'age'> = {
  never: 'nunca',
  now: 'agora mesmo',
  seconds: 'há {count} s',
  minutes: 'há {count} min',
  hours: 'há {count} h',
  days: { one: 'há {count} dia', other: 'há {count} dias' },
  months: { one: 'há {count} mês', other: 'há {count} meses' },
  years: { one: 'há {count} ano', other: 'há {count} anos' },
  ahead: 'no futuro',
};
