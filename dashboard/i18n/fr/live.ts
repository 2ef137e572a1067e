import type { Translation } from '../dictionary.ts';

/** The state of the live connection. */
export const live: Translation<'live'> = {
  live: 'en direct',
  connecting: 'connexion…',
  offline: 'hors ligne',
  polling: 'toutes les 15 s',
  liveHint: 'Les nouvelles valeurs apparaissent d’elles-mêmes.',
  connectingHint: 'Connexion au service pour recevoir les nouvelles valeurs.',
  offlineHint: 'Pas de connexion : voici les dernières valeurs connues.',
  pollingHint: 'Pas de connexion en direct : les nouvelles valeurs sont demandées toutes les 15 s.',
};
