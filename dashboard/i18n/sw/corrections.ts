import type { Translation } from '../dictionary.ts';

/** Saying that values are wrong: taking them away, putting them right, undoing that. */
export const corrections: Translation<'corrections'> = {
  hint: 'Gusa thamani ikiwa si sahihi.',
  thisWrong: 'Hii si sahihi',
  stretchWrong: 'Kipindi si sahihi',
  title: 'Nini si sahihi?',
  one: 'Thamani moja',
  stretch: 'Kipindi cha muda',
  which: 'Thamani gani si sahihi?',
  rightValue: 'Thamani sahihi',
  takeAway: 'Iondoe',
  putRight: 'Isahihishe',
  inStretch: {
    one: 'Thamani {count} itaondolewa. Unaweza kutendua kwa siku 30.',
    other: 'Thamani {count} zitaondolewa. Unaweza kutendua kwa siku 30.',
  },
  tooMany: 'Kuna thamani nyingi hapa. Kuza na uguse tena, au chagua kipindi cha muda.',
  unreachable: 'Kwa jinsi kihisi hiki kilivyorekebishwa, hakuna thamani inayoweza kuonekana hivi.',
  nothing: 'Hakuna tena thamani hapa.',
  removed: { one: 'Thamani {count} imeondolewa', other: 'Thamani {count} zimeondolewa' },
  corrected: { one: 'Thamani {count} imesahihishwa', other: 'Thamani {count} zimesahihishwa' },
  undone: 'Imetenduliwa: thamani ziko kama zilivyokuwa.',
  list: 'Thamani zilizoondolewa au kusahihishwa',
  none: 'Bado hakuna.',
  by: 'na {name}',
};
