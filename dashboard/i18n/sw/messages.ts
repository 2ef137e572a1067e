import type { Translation } from '../dictionary.ts';

/** Ujumbe kati ya watu. */
export const messages: Translation<'messages'> = {
  in: 'Uliopokelewa',
  title: 'Ujumbe',
  write: 'Ujumbe mpya',
  out: 'Uliotumwa',
  'none-in': 'Bado hakuna aliyekuandikia.',
  'none-out': 'Bado hujamwandikia mtu.',
  newest: 'Huu ni kati ya ujumbe {count} wa karibuni.',
  keptOnly: 'umehifadhiwa hapa tu',
  toWhom: 'kwa {name}',
  deleted: 'Ujumbe umefutwa',
  delete: 'Futa ujumbe huu',
  deleteText: 'Utatoweka kwenu wote. Uliotumwa kwa SMS au barua pepe unabaki kwao.',
  recipients: 'Kwa',
  text: 'Ujumbe',
  also: 'Utume pia kwa (bila hivyo, unasomwa hapa tu)',
  send: 'Tuma',
  sent: 'Ujumbe uko njiani',
};
