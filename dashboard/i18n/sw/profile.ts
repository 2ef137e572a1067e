import type { Translation } from '../dictionary.ts';

/** The own account. */
export const profile: Translation<'profile'> = {
  title: 'Wasifu',
  me: 'Mimi',
  developers: 'Kwa wasanidi programu',
  contact: 'Kukuhusu',
  saved: 'Wasifu wako umehifadhiwa',
  guides: 'Miongozo (kwa Kiingereza)',
  look: 'Lugha na mwonekano',
  language: 'Lugha',
  theme: 'Rangi',
  system: 'kama kifaa',
  light: 'angavu',
  dark: 'giza',
  password: 'Nenosiri',
  browsers: 'Vivinjari ulimobaki umeingia',
  browsersText:
    'Vivinjari hubaki vimeingia kwa siku 30 baada ya kutumika. Ondoa kile ulichopoteza.',
  browsersNone: 'Hakuna kivinjari ulimobaki umeingia.',
  browserUsed: 'kilitumika {age} kutoka {address}',
  browserEnd: 'Ondoa',
  browserEnded: '{name} kimeondolewa',
  oldPassword: 'Nenosiri la sasa',
  oldPasswordNeeded: 'Andika nenosiri lako la sasa.',
  oldPasswordWrong: 'Hilo si nenosiri lako la sasa.',
  newPassword: 'Nenosiri jipya',
  changePassword: 'Badilisha nenosiri',
  passwordChanged: 'Nenosiri limebadilishwa. Umeondolewa mahali pengine pote.',
  keys: 'Funguo',
  keysText:
    'Kwa malango, vifaa na programu, ambavyo haviwezi kuingia tena kila dakika kumi. ' +
    'Ufunguo hutumika badala ya tokeni au nenosiri.',
  keysNone: 'Huna funguo.',
  keyName: 'Ni wa nini',
  keyNameHint: 'Kwa mfano: lango lililo juu ya paa la shule.',
  keyNameNeeded: 'Sema ni wa nini.',
  keyRights: 'Ufunguo unaweza',
  keyAll: 'kufanya yote ninayoweza, isipokuwa kubadilisha akaunti yangu',
  keySend: 'kutuma thamani tu',
  keyRead: 'kusoma tu',
  keyMake: 'Tengeneza ufunguo',
  keyShown: 'Huu ndio ufunguo. Unaonyeshwa mara hii tu: unakili sasa.',
  keyMade: 'ulitengenezwa {age}',
  keyExpires: 'hadi {date}',
  keyDelete: 'Futa',
  keyDeleteText: 'Chochote kinachotumia ufunguo {name} kitaacha kufanya kazi mara moja.',
  keyDeleted: 'Ufunguo {name} umefutwa',
  connect: 'Mahali programu zinapounganishwa',
  connectText:
    'Kama nenosiri, tumia ufunguo au nenosiri lako mwenyewe. Mistari hii ikiendeshwa, ' +
    'huonyesha kila thamani mpya ya vifaa vyote unavyoweza kuona.',
  keyHere: 'UFUNGUO WAKO',
  take: 'Chukua data zangu',
  takeText:
    'Thamani za kifaa ziko chini ya CSV kwenye ukurasa wake. Faili hii ina mengine yote: ' +
    'wasifu wako, vifaa, tahadhari, funguo bila siri zake, na nani anashiriki nini.',
  takeDo: 'Pakua akaunti yangu',
  taking: 'Inakusanya…',
  delete: 'Futa akaunti yangu',
  deleteText:
    'Hufuta akaunti yako {name}, vifaa vyako, na kila thamani viliyowahi kutuma. Haiwezi ' +
    'kutenduliwa. Andika jina lako la mtumiaji ili kuendelea.',
  deleteConfirm: 'Jina lako la mtumiaji',
  deleted: 'Akaunti yako imefutwa',
  proveText:
    'Tahadhari hutumwa tu kwa anwani ulizothibitisha. Omba msimbo utumwe huko, kisha ' +
    'uuandike hapa.',
  prove: 'Tuma msimbo',
  proveAgain: 'Tuma msimbo mwingine',
  proven: 'imethibitishwa',
  provenNow: '{address} imethibitishwa',
  code: 'Msimbo',
  codeHint: 'Hufanya kazi kwa nusu saa.',
  confirm: 'Thibitisha',
  webhook: 'Webhook',
  webhookText: 'Tahadhari za webhook hutumwa kama JSON kwa URL hii, zikiwa na sahihi ya siri yako.',
  webhookUrl: 'URL ya webhook',
  webhookSecret: 'Onyesha siri',
  storage: 'Vifaa vyako vimechukua MiB {used} kwenye diski.',
  storageOf: 'Vifaa vyako vimechukua MiB {used} kati ya {quota} kwenye diski.',
  smsCredit: {
    one: 'Umebakiwa na SMS {count}',
    other: 'Umebakiwa na SMS {count}',
  },
};
