import type { Translation } from '../dictionary.ts';

/** Messages entre personnes. */
export const messages: Translation<'messages'> = {
  in: 'Reçus',
  title: 'Messages',
  write: 'Nouveau message',
  out: 'Envoyés',
  'none-in': 'Personne ne vous a encore écrit.',
  'none-out': 'Vous n’avez encore écrit à personne.',
  newest: 'Ils font partie des {count} plus récents.',
  keptOnly: 'conservé ici seulement',
  toWhom: 'à {name}',
  deleted: 'Le message est supprimé',
  delete: 'Supprimer ce message',
  deleteText:
    'Il disparaît pour vous deux. Ce qui est parti par SMS ou e-mail reste chez la ' + 'personne.',
  recipients: 'À',
  text: 'Message',
  also: 'L’envoyer aussi par (sinon, il se lit seulement ici)',
  send: 'Envoyer',
  sent: 'Le message est en route',
};
