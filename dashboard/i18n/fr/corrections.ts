import type { Translation } from '../dictionary.ts';

/** Saying that values are wrong: taking them away, putting them right, undoing that. */
export const corrections: Translation<'corrections'> = {
  hint: 'Touchez une valeur si elle est fausse.',
  thisWrong: 'C’est faux',
  stretchWrong: 'Une période est fausse',
  title: 'Qu’est-ce qui est faux ?',
  one: 'Une valeur',
  stretch: 'Une période',
  which: 'Quelle valeur est fausse ?',
  rightValue: 'La bonne valeur',
  takeAway: 'La retirer',
  putRight: 'La corriger',
  inStretch: {
    one: '{count} valeur sera retirée. Vous pouvez l’annuler pendant 30 jours.',
    many: '{count} valeurs seront retirées. Vous pouvez l’annuler pendant 30 jours.',
    other: '{count} valeurs seront retirées. Vous pouvez l’annuler pendant 30 jours.',
  },
  tooMany:
    'Il y a beaucoup de valeurs ici. Agrandissez et touchez à nouveau, ou choisissez une période.',
  unreachable: 'Avec l’étalonnage de ce capteur, aucune valeur ne peut s’afficher ainsi.',
  nothing: 'Il n’y a plus de valeur ici.',
  removed: {
    one: '{count} valeur retirée',
    many: '{count} valeurs retirées',
    other: '{count} valeurs retirées',
  },
  corrected: {
    one: '{count} valeur corrigée',
    many: '{count} valeurs corrigées',
    other: '{count} valeurs corrigées',
  },
  undone: 'Annulé : les valeurs sont comme avant.',
  list: 'Valeurs retirées ou corrigées',
  none: 'Aucune pour l’instant.',
  by: 'par {name}',
};
