import type { Translation } from '../dictionary.ts';

/** The own account. */
export const profile: Translation<'profile'> = {
  title: 'Profil',
  me: 'Moi',
  developers: 'Pour les développeurs',
  contact: 'À propos de vous',
  saved: 'Votre profil est enregistré',
  guides: 'Guides (en anglais)',
  look: 'Langue et apparence',
  language: 'Langue',
  theme: 'Couleurs',
  system: 'comme l’appareil',
  light: 'clair',
  dark: 'sombre',
  password: 'Mot de passe',
  browsers: 'Navigateurs qui restent connectés',
  browsersText:
    'Les navigateurs restent connectés 30 jours après leur dernière utilisation. ' +
    'Déconnectez celui que vous avez perdu.',
  browsersNone: 'Aucun navigateur ne reste connecté.',
  browserUsed: 'utilisé {age} depuis {address}',
  browserEnd: 'Déconnecter',
  browserEnded: '{name} est déconnecté',
  oldPassword: 'Mot de passe actuel',
  oldPasswordNeeded: 'Indiquez votre mot de passe actuel.',
  oldPasswordWrong: 'Ce n’est pas votre mot de passe actuel.',
  newPassword: 'Nouveau mot de passe',
  changePassword: 'Changer le mot de passe',
  passwordChanged: 'Le mot de passe est changé. Toutes les autres connexions sont fermées.',
  keys: 'Clés',
  keysText:
    'Pour les passerelles, appareils et programmes, qui ne peuvent pas se reconnecter ' +
    'toutes les dix minutes. Une clé remplace un jeton ou un mot de passe.',
  keysNone: 'Vous n’avez pas de clés.',
  keyName: 'À quoi elle sert',
  keyNameHint: 'Par exemple : passerelle sur le toit de l’école.',
  keyNameNeeded: 'Indiquez à quoi elle sert.',
  keyRights: 'Elle peut',
  keyAll: 'faire tout ce que je peux, sauf modifier mon compte',
  keySend: 'seulement envoyer des valeurs',
  keyRead: 'seulement lire',
  keyMake: 'Créer une clé',
  keyShown: 'Voici la clé. Elle n’est affichée qu’une fois : copiez-la maintenant.',
  keyMade: 'créée {age}',
  keyExpires: 'jusqu’au {date}',
  keyDelete: 'Supprimer',
  keyDeleteText: 'Tout ce qui utilise la clé {name} cesse aussitôt de fonctionner.',
  keyDeleted: 'La clé {name} est supprimée',
  connect: 'Où les programmes se connectent',
  connectText:
    'Comme mot de passe, utilisez une clé ou votre propre mot de passe. Tant qu’elles ' +
    'tournent, ces lignes montrent chaque nouvelle valeur de tous les appareils que vous ' +
    'pouvez voir.',
  keyHere: 'VOTRE CLÉ',
  take: 'Emporter mes données',
  takeText:
    'Les valeurs d’un appareil sont sous CSV, sur sa page. Ce fichier contient tout le ' +
    'reste : votre profil, vos appareils, vos alertes, vos clés sans leurs secrets, et ' +
    'qui partage quoi.',
  takeDo: 'Télécharger mon compte',
  taking: 'Préparation…',
  delete: 'Supprimer mon compte',
  deleteText:
    'Supprime votre compte {name}, vos appareils et toutes les valeurs qu’ils ont ' +
    'envoyées. C’est irréversible. Saisissez votre nom d’utilisateur pour continuer.',
  deleteConfirm: 'Votre nom d’utilisateur',
  deleted: 'Votre compte est supprimé',
  proveText:
    'Les alertes ne vont qu’aux adresses que vous avez confirmées. Faites-y envoyer un ' +
    'code et saisissez-le ici.',
  prove: 'Envoyer un code',
  proveAgain: 'Envoyer un autre code',
  proven: 'confirmée',
  provenNow: '{address} est confirmée',
  code: 'Le code',
  codeHint: 'Il est valable une demi-heure.',
  confirm: 'Confirmer',
  webhook: 'Webhook',
  webhookText:
    'Les alertes par webhook sont envoyées en JSON à cette URL, signées avec votre ' + 'secret.',
  webhookUrl: 'URL du webhook',
  webhookSecret: 'Afficher le secret',
  storage: 'Vos appareils occupent {used} Mio sur le disque.',
  storageOf: 'Vos appareils occupent {used} des {quota} Mio sur le disque.',
  smsCredit: { one: '{count} SMS restant', other: '{count} SMS restants' },
};
