import type { Translation } from '../dictionary.ts';

/** Links that let people join. */
export const invite: Translation<'invite'> = {
  one: 'Invitation',
  title: 'Inviter par un lien',
  text: 'Un lien ou un code QR permet de vous rejoindre, même sans avoir de compte ici.',
  right: 'Ce que les invités peuvent faire',
  see: 'Voir et lire les valeurs',
  send: 'Aussi envoyer des valeurs et utiliser les commandes',
  change: 'Aussi modifier',
  lasts: 'Le lien est valable',
  days: { one: '{count} jour', other: '{count} jours' },
  uses: 'Pour combien de personnes',
  usesBad: 'Saisissez un nombre entier de 1 à {max}.',
  make: 'Créer un lien',
  link: 'Lien d’invitation',
  once: 'Ce lien ne sera plus affiché. Copiez-le ou faites scanner le code.',
  left: {
    one: 'pour encore {count} personne, jusqu’au {date}',
    other: 'pour encore {count} personnes, jusqu’au {date}',
  },
  another: 'Créer un autre lien',
  open: 'Invitations ouvertes',
  revoke: 'Annuler',
  revoked: 'Le lien ne fonctionne plus',
  invites: '{name} vous invite',
  device: 'appareil',
  project: 'projet',
  group: 'groupe',
  until: 'L’invitation est valable jusqu’au {date}.',
  joinAs: 'Rejoindre en tant que {name}',
  signUp: 'Créez un compte pour rejoindre',
};
