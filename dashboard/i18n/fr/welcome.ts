import type { Translation } from '../dictionary.ts';

/** First visit: what this is, logging in, signing up. */
export const welcome: Translation<'welcome'> = {
  title: 'Vos capteurs, en un seul endroit',
  what:
    'Kipimo garde ce que mesurent vos capteurs et vous le montre en direct, sur n’importe ' +
    'quel téléphone. Il vous envoie un message quand une valeur est trop basse ou trop ' +
    'haute.',
  publicDevices: 'Appareils publics',
  publicHint: 'Tout le monde peut les voir. Les vôtres peuvent être privés.',
  name: 'Nom d’utilisateur ou e-mail',
  username: 'Nom d’utilisateur',
  usernameHint: 'Lettres, chiffres et . _ -, sans espaces. Les autres voient ce nom.',
  usernameProposed: 'Un nom d’utilisateur n’a ni espaces ni accents. Que diriez-vous de {name} ?',
  password: 'Mot de passe',
  passwordHint: 'Au moins 8 caractères.',
  passwordShort: 'Le mot de passe doit avoir au moins 8 caractères.',
  stay: 'Rester connecté sur cet appareil',
  showPassword: 'Afficher le mot de passe',
  forgotten:
    'Ce service n’envoie pas d’e-mails. Demandez à la personne qui s’en occupe de ' +
    'définir un nouveau mot de passe.',
  forgottenAsk: 'Mot de passe oublié ?',
  withoutMail:
    'Aucun code n’arrive, ou votre compte n’a pas d’adresse e-mail ? Demandez à la personne ' +
    'qui s’occupe de ce service : elle peut définir un nouveau mot de passe.',
  contact: 'Demandez à : {contact}',
  forgottenTitle: 'Un nouveau mot de passe',
  forgottenText: 'Nous envoyons un code à l’adresse e-mail de votre compte.',
  sendCode: 'M’envoyer un code',
  codeSent: 'Si un tel compte existe avec une adresse e-mail, un code est en route.',
  code: 'Code reçu par e-mail',
  codeWrong: 'Le code est incorrect ou trop ancien. Demandez-en un nouveau.',
  codeAgain: 'Demander un autre code',
  firstTitle: 'Votre première connexion',
  firstText:
    'Choisissez un mot de passe d’administrateur. Celui qui a été affiché ne ' +
    'fonctionnera plus.',
  firstSet: 'Le définir et se connecter',
  firstLater: 'Plus tard : garder celui affiché',
  firstWrong: 'Ce lien a servi ou date de plus d’une heure. Utilisez le mot de passe affiché.',
  haveAccount: 'Vous avez déjà un compte ?',
  noAccount: 'Pas encore de compte ?',
  closed: 'Ce service n’accepte pas de nouveaux comptes. Demandez-en un à l’administrateur.',
  taken: 'Ce nom d’utilisateur est pris. Choisissez-en un autre.',
  nameNeeded: 'Saisissez un nom d’utilisateur.',
  passwordNeeded: 'Saisissez votre mot de passe.',
  firstName: 'Prénom',
  lastName: 'Nom',
  email: 'E-mail',
  phone: 'Téléphone',
  phoneHint: 'Avec l’indicatif du pays, par exemple +233 20 123 4567. Les SMS y sont envoyés.',
  country: 'Pays du numéro',
  address: 'Adresse',
  facebook: 'Facebook',
  twitter: 'X (Twitter)',
  twitterHint: 'Nom du compte sans le signe @.',
  contactHint: 'Seuls vous et les administrateurs voyez l’e-mail, le téléphone et l’adresse.',
  contactWhy:
    'Les alertes vous y parviennent. Par e-mail, vous pouvez aussi recevoir un nouveau mot de ' +
    'passe si vous oubliez le vôtre.',
  moreAboutYou: 'Plus d’informations sur vous',
  create: 'Créer le compte',
};
