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
  importTitle: 'Comptes pour une classe',
  importText:
    'Choisissez une liste enregistrée par un tableur (CSV). Sa première ligne nomme les colonnes :',
  importColumns:
    'username, et au choix name, firstName, lastName, email, phone, group, password. ' +
    'Sans mot de passe, le service en crée un.',
  importFile: 'La liste',
  importNoFile: 'Choisissez d’abord un fichier.',
  importDo: 'Créer les comptes',
  importBusy: 'Création des comptes…',
  importMade: { one: '{count} compte est créé', other: '{count} comptes sont créés' },
  importRefused: {
    one: '{count} ligne n’a pas été prise',
    other: '{count} lignes n’ont pas été prises',
  },
  importAgain: 'Une autre liste',
  slips: 'Fiches',
  slipsOnce: 'Imprimez les fiches maintenant : les mots de passe ne seront plus affichés.',
  slipsPrint: 'Imprimer les fiches',
  slipAddress: 'Adresse',
  slipGiven: 'comme sur la liste',
  initialTitle: 'Choisissez votre propre mot de passe',
  initialText:
    'Quelqu’un d’autre connaît votre mot de passe. Choisissez-en un que personne d’autre ' +
    'ne connaît.',
  initialDo: 'Changer le mot de passe',
  initialLater: 'Plus tard',
};
