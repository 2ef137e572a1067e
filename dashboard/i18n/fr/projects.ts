import type { Translation } from '../dictionary.ts';

/** Projects: named groups of devices and gateways. */
export const projects: Translation<'projects'> = {
  one: 'Projet',
  none: 'Vous n’avez pas encore de projets',
  noneText: 'Un projet montre des appareils qui vont ensemble, sur une courbe et une carte.',
  add: 'Nouveau projet',
  name: 'Nom',
  nameMissing: 'Donnez un nom au projet.',
  members: 'Ce qui en fait partie',
  devices: 'Appareils',
  gateways: 'Passerelles',
  counts: '{devices}, {gateways}',
  gatewayCount: { one: '{count} passerelle', other: '{count} passerelles' },
  choose: 'Choisir appareils et passerelles',
  empty: 'Ce projet est encore vide.',
  hidden: {
    one: '{count} autre que vous ne pouvez pas voir, ou qui n’existe plus',
    other: '{count} autres que vous ne pouvez pas voir, ou qui n’existent plus',
  },
  chart: 'Ensemble sur une courbe',
  quantity: 'Ce qui est affiché',
  saved: 'Projet enregistré',
  delete: 'Supprimer ce projet',
  deleteText: '{name} est supprimé. Ses appareils et passerelles restent.',
  deleted: 'Projet supprimé',
  all: 'Tous les projets',
  export: 'Télécharger toutes les données',
  chartFirst: 'Le graphique montre les {count} premières lignes sur {all}.',
};
