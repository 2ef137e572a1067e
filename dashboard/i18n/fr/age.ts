import type { Translation } from '../dictionary.ts';

/** How long ago something was. */
export const age: Translation<'age'> = {
  never: 'jamais',
  now: 'à l’instant',
  seconds: 'il y a {count} s',
  minutes: 'il y a {count} min',
  hours: 'il y a {count} h',
  days: { one: 'il y a {count} jour', other: 'il y a {count} jours' },
  months: { one: 'il y a {count} mois', other: 'il y a {count} mois' },
  years: { one: 'il y a {count} an', other: 'il y a {count} ans' },
  ahead: 'dans le futur',
};
