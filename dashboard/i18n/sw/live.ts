import type { Translation } from '../dictionary.ts';

/** The state of the live connection. */
export const live: Translation<'live'> = {
  live: 'mubashara',
  connecting: 'inaunganisha…',
  offline: 'nje ya mtandao',
  polling: 'kila sek. 15',
  liveHint: 'Thamani mpya zinaonekana zenyewe.',
  connectingHint: 'Inajaribu kufikia huduma.',
  offlineHint: 'Hakuna mtandao: hizi ni thamani za mwisho tunazojua.',
  pollingHint: 'Hakuna muunganisho wa moja kwa moja: thamani mpya huchukuliwa kila sekunde 15.',
};
