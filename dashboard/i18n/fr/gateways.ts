import type { Translation } from '../dictionary.ts';

/** Gateways: being heard from, devices, adding one. */
export const gateways: Translation<'gateways'> = {
  one: 'Passerelle',
  none: 'Vous n’avez pas encore de passerelles',
  noneText:
    'Une passerelle transmet les valeurs d’appareils qui n’ont pas eux-mêmes d’accès à ' +
    'internet. Elle s’affiche aussi ici.',
  add: 'Ajouter une passerelle',
  id: 'Identifiant de la passerelle',
  idHint: 'Celui que la passerelle utilise elle-même, par exemple sur son étiquette.',
  idBad: 'Un identifiant n’a ni espaces ni & ? / # + < > " \' = ; ( ) % \\',
  name: 'Nom',
  connected: 'connectée',
  lastSeen: 'dernier signe {age}',
  neverSeen: 'aucun signe',
  week: 'Signes de vie ces 7 derniers jours',
  weekIs: 'Ces 7 derniers jours, {name} est restée silencieuse {hours} heures sur {all}.',
  weekFull: 'Ces 7 derniers jours, {name} a donné signe de vie tout le temps.',
  weekNothing: '{name} n’a donné aucun signe de vie ces 7 derniers jours.',
  heard: 'active',
  silent: 'silence',
  notYet: 'n’existait pas',
  noDevices: 'Aucun appareil n’est relié par cette passerelle.',
  delete: 'Supprimer cette passerelle',
  deleteText: '{name} est supprimée. Ses appareils et leurs données restent.',
  saved: 'Passerelle enregistrée',
  deleted: 'Passerelle supprimée',
  all: 'Toutes les passerelles',
  place: 'Où elle se trouve',
  owner: 'appartient à {name}',
};
