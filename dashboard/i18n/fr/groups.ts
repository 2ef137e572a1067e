import type { Translation } from '../dictionary.ts';

/** Groups of people to share with. */
export const groups: Translation<'groups'> = {
  title: 'Groupes',
  one: 'Groupe',
  text:
    'Des personnes sous un même nom, par exemple une classe. Ce que vous partagez avec ' +
    'un groupe est partagé avec tous ses membres, et ne l’est plus avec ceux qui le ' +
    'quittent.',
  none: 'Vous n’avez pas encore de groupes',
  add: 'Nouveau groupe',
  name: 'Nom du groupe',
  nameMissing: 'Donnez un nom au groupe.',
  people: 'Noms d’utilisateur',
  peopleHint: 'Un par ligne, ou séparés par des virgules. Vous pouvez coller une liste.',
  members: { one: '{count} personne', other: '{count} personnes' },
  all: 'Tous les groupes',
  who: 'Qui en fait partie',
  nobody: 'Personne n’en fait encore partie.',
  addPeople: 'Ajouter au groupe',
  remove: 'Retirer',
  removed: '{name} ne fait plus partie du groupe',
  added: { one: '{count} personne ajoutée', other: '{count} personnes ajoutées' },
  back: '{name} fait de nouveau partie du groupe',
  shared: 'Ce qui est partagé avec lui',
  sharedNone:
    'Rien pour l’instant. Ouvrez un appareil ou un projet, touchez Partager et choisissez ' +
    'ce groupe.',
  rename: 'Renommer',
  renamed: 'Le groupe s’appelle maintenant {name}',
  delete: 'Supprimer ce groupe',
  deleteText:
    '{name} est supprimé, et ce qui était partagé avec lui ne l’est plus. Les comptes ' +
    'restent.',
  deleted: 'Groupe supprimé',
  unknown: 'Personne n’a ces noms : {names}. Rien n’a été modifié.',
};
