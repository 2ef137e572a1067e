import type { Translation } from '../dictionary.ts';

/** Les comptes, pour les administrateurs. */
export const users: Translation<'users'> = {
  one: 'Utilisateur',
  all: 'Tous les utilisateurs',
  adminsOnly: 'Réservé aux administrateurs.',
  search: 'Chercher des utilisateurs',
  searchHint: 'Nom d’utilisateur, nom, e-mail ou téléphone',
  count: { one: '{count} utilisateur', other: '{count} utilisateurs' },
  tooMany: 'Seuls les {count} premiers sont affichés. Cherchez pour voir les autres.',
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
  deleted: 'Le compte {name} est supprimé',
  show: 'Afficher',
  showAll: 'Tout le monde',
  showNever: 'Jamais connectés',
  showInactive: {
    one: 'Sans connexion depuis {count} jour',
    other: 'Sans connexion depuis {count} jours',
  },
  showAdmins: 'Administrateurs',
  showLocked: 'Bloqués',
  lastLogin: 'dernière connexion le {date}',
  neverLoggedIn: 'jamais connecté',
  choose: 'Choisir {name}',
  chooseAll: { one: 'Choisir {count} utilisateur', other: 'Choisir les {count}' },
  several: { one: 'Avec {count} utilisateur', other: 'Avec {count} utilisateurs' },
  severalGo: 'Continuer',
  severalBusy: '{done} sur {count}…',
  severalDone: { one: '{count} compte est modifié', other: '{count} comptes sont modifiés' },
  passwords: 'Nouveaux mots de passe, avec fiches',
  passwordsText: {
    one:
      'Crée un nouveau mot de passe pour {count} utilisateur, qui sera déconnecté partout ' +
      'et choisira le sien à la prochaine connexion. Vous obtenez une fiche à imprimer.',
    other:
      'Crée de nouveaux mots de passe pour {count} utilisateurs, qui seront déconnectés ' +
      'partout et choisiront le leur à la prochaine connexion. Vous obtenez des fiches à ' +
      'imprimer.',
  },
  passwordsDo: { one: 'Créer {count} mot de passe', other: 'Créer {count} mots de passe' },
  newPasswords: 'Nouveaux mots de passe',
  creditText: {
    one: 'Fixe pour {count} utilisateur combien de messages il lui reste.',
    other: 'Fixe pour chacun des {count} utilisateurs combien de messages il lui reste.',
  },
  creditDo: { one: 'Fixer pour {count} utilisateur', other: 'Fixer pour {count} utilisateurs' },
  lock: 'Bloquer',
  lockText: {
    one:
      '{count} utilisateur ne pourra plus se connecter, et les clés de ce compte prennent ' +
      'fin. Appareils et valeurs restent.',
    other:
      '{count} utilisateurs ne pourront plus se connecter, et les clés de ces comptes ' +
      'prennent fin. Appareils et valeurs restent.',
  },
  lockDo: { one: 'Bloquer {count} utilisateur', other: 'Bloquer {count} utilisateurs' },
  unlock: 'Laisser se connecter',
  unlockText: {
    one: '{count} utilisateur pourra de nouveau se connecter, avec de nouvelles clés.',
    other: '{count} utilisateurs pourront de nouveau se connecter, avec de nouvelles clés.',
  },
  unlockDo: { one: 'Débloquer {count} utilisateur', other: 'Débloquer {count} utilisateurs' },
  deleteSeveralText: {
    one:
      'Supprime {count} compte avec tous ses appareils, valeurs, alertes et clés. C’est ' +
      'définitif.',
    other:
      'Supprime {count} comptes avec tous leurs appareils, valeurs, alertes et clés. C’est ' +
      'définitif.',
  },
  deleteDevices: {
    one: '{count} appareil est supprimé avec eux.',
    other: '{count} appareils sont supprimés avec eux.',
  },
  deleteSeveralDo: { one: 'Supprimer {count} compte', other: 'Supprimer {count} comptes' },
  deleteSeveral: 'Supprimer',
  slipName: 'Nom',
  slipsDone: 'Retour aux utilisateurs',
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
