import type { Translation } from '../dictionary.ts';

/** For how long values are kept, what goes next and when, and how to set it. */
export const retention: Translation<'retention'> = {
  title: 'Durée de conservation des valeurs',
  forEver: 'Toutes les valeurs sont conservées sans limite.',
  days: {
    one: 'Les valeurs sont conservées {count} jour.',
    many: 'Les valeurs sont conservées {count} jours.',
    other: 'Les valeurs sont conservées {count} jours.',
  },
  hours: {
    one: 'Les résumés horaires sont conservés {count} jour.',
    many: 'Les résumés horaires sont conservés {count} jours.',
    other: 'Les résumés horaires sont conservés {count} jours.',
  },
  hoursForEver: 'Les résumés horaires sont conservés sans limite.',
  noHours: 'Rien de plus ancien n’est conservé.',
  sensor: 'Ce réglage est celui du capteur.',
  device: 'Ce réglage est celui de l’appareil.',
  user: 'Ce réglage est celui du compte du propriétaire.',
  service: 'Ce réglage est celui de tout le service.',
  nextNow: {
    one: '{count} valeur d’avant le {before} sera supprimée d’ici une heure.',
    many: '{count} valeurs d’avant le {before} seront supprimées d’ici une heure.',
    other: '{count} valeurs d’avant le {before} seront supprimées d’ici une heure.',
  },
  nextOn: {
    one: '{count} valeur d’avant le {before} sera supprimée le {day}.',
    many: '{count} valeurs d’avant le {before} seront supprimées le {day}.',
    other: '{count} valeurs d’avant le {before} seront supprimées le {day}.',
  },
  nextNone: 'Rien n’est supprimé avant le {day}.',
  ownHolds: 'Les capteurs et appareils qui ont leur propre réglage le suivent.',
  rawDays: 'Jours de conservation des valeurs',
  hourlyDays: 'Jours de conservation des résumés horaires',
  empty: 'Vide : sans limite.',
  hourlyHint:
    'Les graphiques de longues périodes utilisent les résumés horaires : minimum, ' +
    'maximum et somme. Vide : sans limite.',
  badDays: 'Saisissez un nombre entier de jours, {max} au plus, ou rien.',
  tooShort: 'Les résumés horaires sont conservés au moins aussi longtemps que les valeurs.',
  askTitle: 'Supprimer les anciennes valeurs ?',
  ask: {
    one:
      'Les valeurs de plus de {count} jour sont supprimées, dès maintenant et à l’avenir. C’est ' +
      'définitif.',
    many:
      'Les valeurs de plus de {count} jours sont supprimées, dès maintenant et à l’avenir. C’est ' +
      'définitif.',
    other:
      'Les valeurs de plus de {count} jours sont supprimées, dès maintenant et à l’avenir. C’est ' +
      'définitif.',
  },
  older: {
    one: 'Aujourd’hui, cela concerne {count} valeur.',
    many: 'Aujourd’hui, cela concerne {count} valeurs.',
    other: 'Aujourd’hui, cela concerne {count} valeurs.',
  },
  doDelete: 'Supprimer les anciennes valeurs',
  outer: 'Utiliser le réglage général',
  outerAsk:
    'Le réglage de l’appareil, du compte ou de tout le service s’applique à nouveau. Cela peut ' +
    'supprimer d’anciennes valeurs.',
};
