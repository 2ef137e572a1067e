import type { Translation } from '../dictionary.ts';

/** Words that many screens share. */
export const common: Translation<'common'> = {
  pair: '{name} : {value}',
  loading: 'Chargement…',
  retry: 'Réessayer',
  cancel: 'Annuler',
  close: 'Fermer',
  save: 'Enregistrer',
  delete: 'Supprimer',
  edit: 'Modifier',
  add: 'Ajouter',
  back: 'Retour',
  more: 'Plus',
  search: 'Chercher',
  undo: 'Annuler',
  copy: 'Copier',
  copied: 'Copié',
  yes: 'Oui',
  no: 'Non',
  on: 'allumé',
  off: 'éteint',
  nothing: 'aucun',
  devices: { one: '{count} appareil', other: '{count} appareils' },
  sensors: { one: '{count} capteur', other: '{count} capteurs' },
};
