import type { Translation } from '../dictionary.ts';

/** Groups of people to share with. */
export const groups: Translation<'groups'> = {
  title: 'Vikundi',
  one: 'Kikundi',
  text:
    'Watu chini ya jina moja, kama darasa. Unachoshiriki na kikundi kinashirikiwa na ' +
    'wote waliomo, na huisha kwa anayetoka.',
  none: 'Bado huna vikundi',
  add: 'Kikundi kipya',
  name: 'Jina la kikundi',
  nameMissing: 'Kipe kikundi jina.',
  people: 'Majina ya watumiaji',
  peopleHint: 'Moja kwa kila mstari, au yatenganishwe kwa koma. Unaweza kubandika orodha.',
  members: { one: 'mtu {count}', other: 'watu {count}' },
  all: 'Vikundi vyote',
  who: 'Waliomo',
  nobody: 'Bado hakuna mtu ndani yake.',
  addPeople: 'Ongeza kwenye kikundi',
  remove: 'Ondoa',
  removed: '{name} hayumo tena kikundini',
  added: { one: 'mtu {count} ameongezwa', other: 'watu {count} wameongezwa' },
  back: '{name} yumo tena kikundini',
  shared: 'Kinachoshirikiwa nacho',
  sharedNone: 'Bado hakuna. Fungua kifaa au mradi, gusa Shiriki, na uchague kikundi hiki.',
  rename: 'Badilisha jina',
  renamed: 'Kikundi sasa kinaitwa {name}',
  delete: 'Futa kikundi hiki',
  deleteText: '{name} kitafutwa, na kilichoshirikiwa nacho hakitashirikiwa tena. Akaunti zitabaki.',
  deleted: 'Kikundi kimefutwa',
  unknown: 'Hakuna wenye majina haya: {names}. Hakuna kilichobadilika.',
};
