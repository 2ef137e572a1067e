import type { Translation } from '../dictionary.ts';

/** Akaunti, kwa wasimamizi. */
export const users: Translation<'users'> = {
  one: 'Mtumiaji',
  all: 'Watumiaji wote',
  adminsOnly: 'Ni kwa wasimamizi tu.',
  search: 'Tafuta watumiaji',
  searchHint: 'Jina la mtumiaji, jina au barua pepe',
  count: { one: 'mtumiaji {count}', other: 'watumiaji {count}' },
  found: '{shown} kati ya {count}',
  tooMany:
    'Akaunti {count} za kwanza tu ndizo hutafutwa. Mpya zaidi hupatikana kwa jina kamili ' +
    'la mtumiaji.',
  nobody: 'Hakuna anayelingana',
  showMore: 'Onyesha zaidi',
  new: 'Mtumiaji mpya',
  created: '{name} anaweza kuingia sasa',
  create: 'Fungua akaunti',
  password: 'Nenosiri',
  admin: 'Msimamizi',
  adminText: 'Anaweza kuona na kubadilisha yote',
  disabled: 'amefungiwa',
  enabledText: 'Anaweza kuingia',
  since: 'tangu {date}',
  contact: 'Mawasiliano',
  credit: 'Ujumbe wa SMS au simu',
  creditHint: 'Zilizobaki. Tupu: bila kikomo.',
  creditBad: 'Andika namba nzima, au usiandike kitu.',
  creditLeft: { one: 'SMS {count} imebaki', other: 'SMS {count} zimebaki' },
  saved: 'Imehifadhiwa',
  newPassword: 'Weka nenosiri jipya',
  newPasswordText: 'Mtu huyu ataondolewa kila alikoingia. Mwambie nenosiri jipya wewe mwenyewe.',
  passwordSet: 'Nenosiri jipya limewekwa',
  self: 'Huyu ni wewe: badilisha akaunti yako kwenye wasifu wako.',
  delete: 'Futa akaunti hii',
  deleteText:
    'Hufuta {name} pamoja na vifaa, thamani, tahadhari na funguo zote za akaunti hii. ' +
    'Haiwezi kutenduliwa.',
  deleted: '{name} amefutwa',
  importTitle: 'Akaunti za darasa',
  importText:
    'Chagua orodha iliyohifadhiwa na lahajedwali (CSV). Mstari wake wa kwanza hutaja safu:',
  importColumns:
    'username, na yoyote ya name, firstName, lastName, email, phone, group, ' +
    'password. Bila nenosiri, litatungwa.',
  importFile: 'Orodha',
  importNoFile: 'Chagua faili kwanza.',
  importDo: 'Fungua akaunti',
  importBusy: 'Akaunti zinafunguliwa…',
  importMade: { one: 'Akaunti {count} imefunguliwa', other: 'Akaunti {count} zimefunguliwa' },
  importRefused: { one: 'Mstari {count} haukuchukuliwa', other: 'Mistari {count} haikuchukuliwa' },
  importAgain: 'Orodha nyingine',
  slips: 'Karatasi za kuingia',
  slipsOnce: 'Chapisha karatasi sasa: manenosiri hayataonyeshwa tena.',
  slipsPrint: 'Chapisha karatasi',
  slipAddress: 'Anwani',
  slipGiven: 'kama kwenye orodha',
  initialTitle: 'Chagua nenosiri lako mwenyewe',
  initialText: 'Mtu mwingine analijua nenosiri lako. Chagua unalolijua wewe tu.',
  initialDo: 'Badilisha nenosiri',
  initialLater: 'Baadaye',
};
