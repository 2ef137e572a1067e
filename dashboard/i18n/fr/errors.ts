import type { Translation } from '../dictionary.ts';

/** What went wrong, and what to do. */
export const errors: Translation<'errors'> = {
  offline: 'Le service est injoignable. Vérifiez votre connexion, puis réessayez.',
  unavailable: 'Le service est occupé. Réessayez dans un instant.',
  internal:
    'Une erreur s’est produite dans le service. Réessayez. Si elle persiste, prévenez ' +
    'l’administrateur.',
  forbidden: 'Vous n’en avez pas le droit. Demandez au propriétaire de partager avec vous.',
  notFound: 'Cela n’existe plus.',
  tooLarge: 'C’est trop volumineux pour le service.',
  rateLimited: 'Trop de tentatives. Réessayez dans {count} s.',
  loggedOut: 'Connectez-vous pour faire cela.',
  badLogin: 'Le nom d’utilisateur ou le mot de passe est incorrect.',
  screen: 'Cette page n’a pas pu être chargée. Vérifiez votre connexion, puis réessayez.',
  crash: 'Cette page a planté. Rechargez-la ; ce que vous avez enregistré est intact.',
};
