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
  tooMany: 'Au-delà des {count} premiers, un compte se trouve par son nom d’utilisateur exact.',
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
  creditBad: 'Écrivez un nombre entier, ou rien.',
  creditLeft: { one: '{count} SMS restant', other: '{count} SMS restants' },
  saved: 'Enregistré',
  newPassword: 'Donner un nouveau mot de passe',
  newPasswordText:
    'Toutes les connexions de cette personne prennent fin. Dites-lui vous-même le nouveau.',
  passwordSet: 'Le nouveau mot de passe est valable',
  self: 'C’est vous : modifiez votre compte dans votre profil.',
  delete: 'Supprimer ce compte',
  deleteText:
    'Supprime {name} avec tous les appareils, valeurs, alertes et clés de ce compte. ' +
    'C’est définitif.',
  deleted: '{name} est supprimé',
};
