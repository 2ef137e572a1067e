import type { Translation } from '../dictionary.ts';

/** Gateways: being heard from, devices, adding one. */
export const gateways: Translation<'gateways'> = {
  one: 'Lango (gateway)',
  none: 'Bado huna malango (gateway)',
  noneText: 'Lango (gateway) hupitisha thamani za vifaa visivyo na intaneti. Nalo huonekana hapa.',
  add: 'Ongeza lango',
  kit: 'Kifaa changu ni lango (gateway)',
  kitText: 'Je, kinapitisha thamani za vifaa vingine, kwa LoRa kwa mfano?',
  what:
    'Lango (gateway) hutuma thamani za vifaa visivyo na mtandao wao wenyewe. Kitambulisho ' +
    'chake ni jina ambalo lango hujitambulisha nalo hapa: kiko kwenye lebo yake, au kwenye ' +
    'ukurasa wa mipangilio wa lango lenyewe.',
  setUp: 'Weka lango {id}',
  setUpText: 'Andika haya kwenye mipangilio ya lango. Lango lenyewe huunda vifaa vyake hapa.',
  keyText:
    'Kama nenosiri, lango linahitaji ufunguo. Ufunguo unaweza kufutwa peke yake, na ' +
    'nenosiri lako hubaki kwako.',
  keyMake: 'Tengeneza ufunguo wa lango hili',
  waiting: 'Tunasubiri lango…',
  waitingValue: 'Lango limesikika. Tunasubiri thamani ya kwanza ya mojawapo ya vifaa vyake…',
  ready: 'Lango lako liko tayari. {name}:',
  see: 'Tazama lango',
  id: 'Kitambulisho cha lango',
  idHint: 'Kile ambacho lango lenyewe hutumia, kwa mfano kwenye lebo yake.',
  idBad: 'Kitambulisho hakina nafasi wala & ? / # + < > " \' = ; ( ) % \\',
  name: 'Jina',
  connected: 'limeunganishwa',
  lastSeen: 'limeonekana {age}',
  neverSeen: 'halijawahi kuonekana',
  week: 'Lilisikika katika siku 7 zilizopita',
  weekIs: 'Katika siku 7 zilizopita {name} lilikuwa kimya kwa saa {hours} kati ya {all}.',
  weekFull: 'Katika siku 7 zilizopita {name} lilisikika wakati wote.',
  weekNothing: 'Hakuna kilichosikika kutoka {name} katika siku 7 zilizopita.',
  heard: 'lilisikika',
  silent: 'kimya',
  notYet: 'halikuwepo bado',
  noDevices: 'Hakuna kifaa kilichounganishwa kupitia lango hili.',
  delete: 'Futa lango hili',
  deleteText: '{name} litafutwa. Vifaa vyake na data zake zitabaki.',
  saved: 'Lango limehifadhiwa',
  deleted: 'Lango limefutwa',
  all: 'Malango yote (gateway)',
  place: 'Mahali lilipo',
  owner: 'ni la {name}',
};
