import type { Translation } from '../dictionary.ts';

/** Les comptes, pour les administrateurs. */
export const users: Translation<'users'> = {
  one: 'Utilisateur',
  all: 'Tous les utilisateurs',
  adminsOnly: 'Réservé aux administrateurs.',
  search: 'Chercher des utilisateurs',
  searchHint: 'Nom d’utilisateur, nom ou e-mail',
  count: { one: '{count} utilisateur', other: '{count} utilisateurs' },
  found: '{shown} sur {count}',
  tooMany:
    'La recherche porte sur les {count} premiers comptes. Les plus récents se trouvent ' +
    'par leur nom d’utilisateur exact.',
  nobody: 'Personne ne correspond',
  showMore: 'En afficher plus',
  new: 'Nouvel utilisateur',
  created: '{name} peut se connecter',
  create: 'Créer le compte',
  password: 'Mot de passe',
  admin: 'Administrateur',
  adminText: 'Peut tout voir et tout modifier',
  disabled: 'bloqué',
  enabledText: 'Peut se connecter',
  since: 'depuis le {date}',
  contact: 'Coordonnées',
  credit: 'Messages par SMS ou téléphone',
  creditHint: 'Combien il en reste. Vide : sans limite.',
  creditBad: 'Saisissez un nombre entier, ou rien.',
  creditLeft: { one: '{count} SMS restant', other: '{count} SMS restants' },
  saved: 'Enregistré',
  newPassword: 'Définir un nouveau mot de passe',
  newPasswordText:
    'Cette personne sera déconnectée partout. Donnez-lui vous-même le nouveau mot de ' + 'passe.',
  passwordSet: 'Le nouveau mot de passe est en place',
  self: 'C’est vous : modifiez votre compte dans votre profil.',
  delete: 'Supprimer ce compte',
  deleteText:
    'Supprime {name} avec tous les appareils, valeurs, alertes et clés de ce compte. ' +
    'C’est définitif.',
  deleted: '{name} est supprimé',
};
