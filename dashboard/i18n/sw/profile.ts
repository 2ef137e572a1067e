import type { Translation } from '../dictionary.ts';

/** The own account. */
export const profile: Translation<'profile'> = {
  title: 'Wasifu',
  contact: 'Kukuhusu',
  saved: 'Wasifu wako umehifadhiwa',
  look: 'Lugha na mwonekano',
  language: 'Lugha',
  theme: 'Rangi',
  system: 'kama kifaa',
  light: 'nyeupe',
  dark: 'nyeusi',
  password: 'Nenosiri',
  browsers: 'Unapobaki umeingia',
  browsersText:
    'Vivinjari hubaki vimeingia kwa siku 30 baada ya kutumika. Toa kile ulichokipoteza.',
  browsersNone: 'Hujabaki umeingia popote.',
  browserUsed: 'kilitumika {age} kutoka {address}',
  browserEnd: 'Toa',
  browserEnded: '{name} kimetolewa',
  oldPassword: 'Nenosiri la sasa',
  oldPasswordNeeded: 'Andika nenosiri lako la sasa.',
  oldPasswordWrong: 'Hilo si nenosiri lako la sasa.',
  newPassword: 'Nenosiri jipya',
  changePassword: 'Badilisha nenosiri',
  passwordChanged: 'Nenosiri limebadilishwa. Umetolewa mahali pengine pote.',
  keys: 'Funguo',
  keysText:
    'Kwa malango, vifaa na programu, ambavyo haviwezi kuingia tena kila dakika kumi. ' +
    'Ufunguo hutumika badala ya tokeni au nenosiri.',
  keysNone: 'Huna funguo.',
  keyName: 'Ni wa nini',
  keyNameHint: 'Kwa mfano: lango lililo juu ya paa la shule.',
  keyNameNeeded: 'Sema ni wa nini.',
  keyRights: 'Unaweza',
  keyAll: 'kufanya yote ninayoweza, isipokuwa kwa akaunti yangu',
  keySend: 'kutuma thamani tu',
  keyRead: 'kusoma tu',
  keyMake: 'Tengeneza ufunguo',
  keyShown: 'Huu ndio ufunguo. Unaonyeshwa mara hii tu: unakili sasa.',
  keyMade: 'ulitengenezwa {age}',
  keyExpires: 'hadi {date}',
  keyDelete: 'Futa',
  keyDeleteText: 'Chochote kinachotumia ufunguo {name} kitaacha kufanya kazi mara moja.',
  keyDeleted: 'Ufunguo {name} umefutwa',
  take: 'Chukua data yako',
  takeText:
    'Kila kifaa kina thamani zake kama CSV chini ya CSV. Faili hii ina mengine yote: ' +
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
    'Tahadhari hutumwa kwa anwani ulizothibitisha kuwa ni zako: omba msimbo utumwe huko, ' +
    'kisha uandike hapa.',
  prove: 'Tuma msimbo',
  proveAgain: 'Tuma msimbo mwingine',
  proven: 'imethibitishwa',
  provenNow: '{address} imethibitishwa',
  code: 'Msimbo',
  codeHint: 'Hufanya kazi kwa nusu saa.',
  confirm: 'Thibitisha',
  webhook: 'Webhook',
  webhookText:
    'Tahadhari za webhook hutumwa kama JSON kwa anwani hii, zikiwa zimetiwa sahihi kwa siri ' +
    'yako.',
  webhookUrl: 'Anwani inayopokea',
  webhookSecret: 'Onyesha siri',
  storage: 'Vifaa vyako vimechukua MiB {used} kwenye diski.',
  storageOf: 'Vifaa vyako vimechukua MiB {used} kati ya {quota} kwenye diski.',
  smsCredit: { one: 'Umebakiwa na ujumbe {count}', other: 'Umebakiwa na jumbe {count}' },
};
