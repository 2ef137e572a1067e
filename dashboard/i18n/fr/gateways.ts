import type { Translation } from '../dictionary.ts';

/** Gateways: being heard from, devices, adding one. */
export const gateways: Translation<'gateways'> = {
  one: 'Passerelle',
  none: 'Vous n’avez pas encore de passerelles',
  noneText:
    'Une passerelle relaie des appareils qui n’ont pas d’internet eux-mêmes. Elle ' +
    's’affiche aussi ici.',
  add: 'Ajouter une passerelle',
  id: 'Identifiant de la passerelle',
  idHint: 'Celui que la passerelle a elle-même, par exemple sur son étiquette.',
  idBad: 'Un identifiant n’a ni espaces ni & ? / # + < > " \' = ; ( ) % \\',
  name: 'Nom',
  connected: 'connectée',
  lastSeen: 'vue {age}',
  neverSeen: 'jamais vue',
  week: 'Entendue ces 7 derniers jours',
  weekIs: 'Ces 7 derniers jours, {name} s’est tue pendant {hours} heures sur {all}.',
  weekFull: 'Ces 7 derniers jours, {name} a été entendue tout le temps.',
  weekNothing: 'Rien n’a été entendu de {name} ces 7 derniers jours.',
  heard: 'entendue',
  silent: 'silence',
  notYet: 'pas encore là',
  noDevices: 'Aucun appareil ne dit être relié par cette passerelle.',
  delete: 'Supprimer cette passerelle',
  deleteText: '{name} est supprimée. Ses appareils et leurs données restent.',
  saved: 'Passerelle enregistrée',
  deleted: 'Passerelle supprimée',
  all: 'Toutes les passerelles',
  place: 'Où elle se trouve',
  owner: 'appartient à {name}',
};
