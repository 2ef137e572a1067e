import type { Translation } from '../dictionary.ts';

/** The frame of every screen: navigation, connection, session. */
export const shell: Translation<'shell'> = {
  navigation: 'Principal',
  home: 'Accueil',
  map: 'Carte',
  alerts: 'Alertes',
  more: 'Plus',
  gateways: 'Passerelles',
  projects: 'Projets',
  sharing: 'Partage',
  profile: 'Profil',
  users: 'Utilisateurs',
  reference: 'Référence de l’API',
  login: 'Se connecter',
  usage: 'Utilisation',
  signup: 'S’inscrire',
  logout: 'Se déconnecter',
  skip: 'Aller au contenu',
  offline: 'Vous êtes hors ligne. Vous voyez les dernières informations connues.',
  remembered: 'Non actualisé : état {age}.',
  loggedInAs: 'Connecté en tant que {name}',
  ended: 'Votre session est terminée',
  endedText:
    'Vous étiez absent un moment. Reconnectez-vous pour continuer où vous en étiez, {name}.',
  staysGuest: 'Continuer sans se connecter',
  missing: 'Il n’y a rien à cette adresse',
  missingText: 'La page a peut-être été supprimée, ou le lien est incomplet.',
  goHome: 'Aller à l’accueil',
  optional: 'facultatif',
  version: 'Kipimo {version}',
  install: 'Installer cette application',
};
