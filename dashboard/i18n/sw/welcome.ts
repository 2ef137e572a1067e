import type { Translation } from '../dictionary.ts';

/** First visit: what this is, logging in, signing up. */
export const welcome: Translation<'welcome'> = {
  title: 'Vihisi vyako, mahali pamoja',
  what:
    'Kipimo huhifadhi vipimo vya vihisi vyako na kukuonyesha moja kwa moja, kwenye simu ' +
    'yoyote. Hukutumia ujumbe thamani ikiwa chini au juu mno.',
  publicDevices: 'Vifaa vya wote',
  publicHint: 'Kila mtu anaweza kuona hivi. Vyako vinaweza kuwa vya faragha.',
  name: 'Jina la mtumiaji au barua pepe',
  username: 'Jina la mtumiaji',
  usernameHint: 'Herufi, tarakimu na . _ -, bila nafasi. Wengine wanaona jina hili.',
  usernameProposed: 'Jina la mtumiaji halina nafasi wala alama. Vipi {name}?',
  password: 'Nenosiri',
  passwordHint: 'Angalau herufi 8.',
  passwordShort: 'Nenosiri linahitaji angalau herufi 8.',
  stay: 'Baki umeingia kwenye kifaa hiki',
  showPassword: 'Onyesha nenosiri',
  forgotten: 'Huduma hii haitumi barua pepe. Mwombe anayeiendesha akuwekee nenosiri jipya.',
  forgottenAsk: 'Umesahau nenosiri?',
  withoutMail:
    'Hakuna msimbo uliofika, au akaunti yako haina anwani ya barua pepe? Muulize ' +
    'anayeendesha huduma hii: anaweza kuweka nenosiri jipya.',
  contact: 'Muulize: {contact}',
  forgottenTitle: 'Nenosiri jipya',
  forgottenText: 'Tunatuma msimbo kwenye barua pepe ya akaunti yako.',
  sendCode: 'Nitumie msimbo',
  codeSent: 'Ikiwa akaunti hiyo ipo na ina barua pepe, msimbo uko njiani.',
  code: 'Msimbo ulio kwenye barua pepe',
  codeWrong: 'Msimbo si sahihi, au umepitwa na wakati. Omba mpya.',
  codeAgain: 'Omba msimbo mwingine',
  firstTitle: 'Kuingia kwa mara ya kwanza',
  firstText: 'Chagua nenosiri la msimamizi. Lililoonyeshwa halitafanya kazi tena.',
  firstSet: 'Liweke na uingie',
  firstLater: 'Baadaye: tumia lililoonyeshwa',
  firstWrong: 'Kiungo kimetumika, au kina zaidi ya saa moja. Ingia kwa nenosiri lililoonyeshwa.',
  haveAccount: 'Tayari una akaunti?',
  noAccount: 'Bado huna akaunti?',
  closed: 'Huduma hii haipokei akaunti mpya. Mwombe msimamizi.',
  taken: 'Jina hili la mtumiaji limechukuliwa. Chagua jingine.',
  nameNeeded: 'Andika jina la mtumiaji.',
  passwordNeeded: 'Andika nenosiri lako.',
  firstName: 'Jina la kwanza',
  lastName: 'Jina la ukoo',
  email: 'Barua pepe',
  phone: 'Simu',
  phoneHint: 'Pamoja na msimbo wa nchi, kama +233 20 123 4567. Ujumbe mfupi hutumwa huko.',
  address: 'Anwani',
  facebook: 'Facebook',
  twitter: 'X (Twitter)',
  twitterHint: 'Jina la akaunti bila alama ya @.',
  contactHint: 'Wewe na wasimamizi tu mnaona barua pepe, simu na anwani.',
  contactWhy:
    'Tahadhari zitakufikia hapo. Kwa barua pepe unaweza pia kupata nenosiri jipya ' +
    'ukisahau lako.',
  moreAboutYou: 'Zaidi kukuhusu',
  create: 'Fungua akaunti',
};
