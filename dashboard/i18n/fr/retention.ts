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
    one: 'Le bilan de chaque heure est conservé {count} jour.',
    many: 'Le bilan de chaque heure est conservé {count} jours.',
    other: 'Le bilan de chaque heure est conservé {count} jours.',
  },
  hoursForEver: 'Le bilan de chaque heure est conservé sans limite.',
  noHours: 'Des plus anciennes, il ne reste rien.',
  sensor: 'C’est réglé pour le capteur.',
  device: 'C’est réglé pour l’appareil.',
  user: 'C’est réglé pour le compte du propriétaire.',
  service: 'C’est réglé pour tout le service.',
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
  hourlyDays: 'Jours de conservation des heures',
  empty: 'Vide : sans limite.',
  hourlyHint:
    'Les graphiques de longues périodes continuent avec les heures : minimum, maximum et somme. ' +
    'Vide : sans limite.',
  badDays: 'Donnez un nombre entier de jours, {max} au plus, ou rien.',
  tooShort: 'Les heures sont conservées au moins aussi longtemps que les valeurs.',
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
  outer: 'Ne rien régler ici',
  outerAsk:
    'Le réglage de l’appareil, du compte ou de tout le service s’applique à nouveau. Cela peut ' +
    'supprimer d’anciennes valeurs.',
};
