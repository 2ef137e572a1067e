import type { Translation } from '../dictionary.ts';

/** Akaunti, kwa wasimamizi. */
export const users: Translation<'users'> = {
  one: 'Mtumiaji',
  all: 'Watumiaji wote',
  adminsOnly: 'Ni kwa wasimamizi tu.',
  search: 'Tafuta watumiaji',
  searchHint: 'Jina la mtumiaji, jina, barua pepe au simu',
  count: { one: 'mtumiaji {count}', other: 'watumiaji {count}' },
  tooMany: 'Ni {count} wa kwanza tu wanaoonyeshwa. Tafuta ili kuona wengine.',
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
  deleted: 'Akaunti ya {name} imefutwa',
  show: 'Onyesha',
  showAll: 'Wote',
  showNever: 'Hawajawahi kuingia',
  showInactive: {
    one: 'Hawajaingia kwa siku {count}',
    other: 'Hawajaingia kwa siku {count}',
  },
  showAdmins: 'Wasimamizi',
  showLocked: 'Waliofungiwa',
  lastLogin: 'aliingia mwisho {date}',
  neverLoggedIn: 'hajawahi kuingia',
  choose: 'Chagua {name}',
  chooseAll: { one: 'Chagua mtumiaji {count}', other: 'Chagua wote {count}' },
  several: { one: 'Kwa mtumiaji {count}', other: 'Kwa watumiaji {count}' },
  severalGo: 'Endelea',
  severalBusy: '{done} kati ya {count}…',
  severalDone: { one: 'Akaunti {count} imebadilishwa', other: 'Akaunti {count} zimebadilishwa' },
  passwords: 'Manenosiri mapya, na karatasi',
  passwordsText: {
    one:
      'Hutunga nenosiri jipya kwa mtumiaji {count}, ambaye ataondolewa kila alikoingia na ' +
      'kuchagua lake mwenyewe atakapoingia tena. Unapata karatasi ya kuchapisha.',
    other:
      'Hutunga manenosiri mapya kwa watumiaji {count}, ambao wataondolewa kila walikoingia ' +
      'na kuchagua yao wenyewe watakapoingia tena. Unapata karatasi za kuchapisha.',
  },
  passwordsDo: { one: 'Tunga nenosiri {count}', other: 'Tunga manenosiri {count}' },
  newPasswords: 'Manenosiri mapya',
  creditText: {
    one: 'Huweka idadi ya ujumbe uliobaki kwa mtumiaji {count}.',
    other: 'Huweka idadi ya ujumbe uliobaki kwa kila mmoja wa watumiaji {count}.',
  },
  creditDo: { one: 'Weka kwa mtumiaji {count}', other: 'Weka kwa watumiaji {count}' },
  lock: 'Fungia',
  lockText: {
    one:
      'Mtumiaji {count} hataweza kuingia tena, na funguo za akaunti hii zinakoma. Vifaa na ' +
      'thamani vinabaki.',
    other:
      'Watumiaji {count} hawataweza kuingia tena, na funguo za akaunti hizi zinakoma. Vifaa ' +
      'na thamani vinabaki.',
  },
  lockDo: { one: 'Fungia mtumiaji {count}', other: 'Fungia watumiaji {count}' },
  unlock: 'Ruhusu kuingia tena',
  unlockText: {
    one: 'Mtumiaji {count} ataweza kuingia tena, kwa funguo mpya.',
    other: 'Watumiaji {count} wataweza kuingia tena, kwa funguo mpya.',
  },
  unlockDo: { one: 'Ruhusu mtumiaji {count}', other: 'Ruhusu watumiaji {count}' },
  deleteSeveralText: {
    one:
      'Hufuta akaunti {count} pamoja na vifaa, thamani, tahadhari na funguo zake zote. ' +
      'Haiwezi kutenduliwa.',
    other:
      'Hufuta akaunti {count} pamoja na vifaa, thamani, tahadhari na funguo zake zote. ' +
      'Haiwezi kutenduliwa.',
  },
  deleteDevices: {
    one: 'Kifaa {count} kinafutwa pamoja nazo.',
    other: 'Vifaa {count} vinafutwa pamoja nazo.',
  },
  deleteSeveralDo: { one: 'Futa akaunti {count}', other: 'Futa akaunti {count}' },
  deleteSeveral: 'Futa',
  slipName: 'Jina',
  slipsDone: 'Rudi kwa watumiaji',
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
