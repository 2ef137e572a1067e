import type { Translation } from '../dictionary.ts';

/** Gateways: being heard from, devices, adding one. */
export const gateways: Translation<'gateways'> = {
  one: 'Passerelle',
  none: 'Vous n’avez pas encore de passerelles',
  noneText:
    'Une passerelle transmet les valeurs d’appareils qui n’ont pas eux-mêmes d’accès à ' +
    'internet. Elle s’affiche aussi ici.',
  add: 'Ajouter une passerelle',
  kit: 'Mon kit est une passerelle',
  kitText: 'Transmet-il les valeurs d’autres appareils, par LoRa par exemple ?',
  what:
    'Une passerelle envoie les valeurs d’appareils qui n’ont pas leur propre accès à ' +
    'internet. Son identifiant est le nom sous lequel elle s’annonce ici : il est sur son ' +
    'étiquette, ou sur la page de réglages de la passerelle elle-même.',
  setUp: 'Configurer la passerelle {id}',
  setUpText:
    'Saisissez ceci dans les réglages de la passerelle. Elle crée elle-même ses appareils ' +
    'ici.',
  keyText:
    'Comme mot de passe, il faut une clé à la passerelle. On peut supprimer une clé seule, ' +
    'et votre propre mot de passe reste chez vous.',
  keyMake: 'Créer une clé pour cette passerelle',
  waiting: 'En attente de la passerelle…',
  waitingValue:
    'La passerelle s’est annoncée. En attente de la première valeur d’un de ses appareils…',
  ready: 'Votre passerelle est prête. {name} :',
  see: 'Voir la passerelle',
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
