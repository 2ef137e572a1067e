import type { Translation } from '../dictionary.ts';

/** Projects: named groups of devices and gateways. */
export const projects: Translation<'projects'> = {
  one: 'Projet',
  none: 'Vous n’avez pas encore de projets',
  noneText: 'Un projet réunit des appareils sur un même graphique et une même carte.',
  add: 'Nouveau projet',
  name: 'Nom',
  nameMissing: 'Donnez un nom au projet.',
  members: 'Son contenu',
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
  chart: 'Ensemble sur un graphique',
  quantity: 'Ce qui est affiché',
  saved: 'Projet enregistré',
  delete: 'Supprimer ce projet',
  deleteText: '{name} est supprimé. Ses appareils et passerelles restent.',
  deleted: 'Projet supprimé',
  all: 'Tous les projets',
  export: 'Télécharger toutes les données',
  chartFirst: 'Le graphique montre {count} courbes sur {all}.',
};
