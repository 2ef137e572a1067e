import type { Translation } from '../dictionary.ts';

/** A first device in three steps. */
export const start: Translation<'start'> = {
  title: 'Kifaa kipya',
  step: 'Hatua {count} kati ya 3',
  nameTitle: 'Ni nini?',
  name: 'Jina',
  nameHint: 'Jinsi ungekiita: Shamba 3, tangi la shule.',
  id: 'Kitambulisho',
  idHint: 'Jina fupi linalotumika kwenye anwani na msimbo. Haliwezi kubadilishwa baadaye.',
  taken: 'Tayari kuna kifaa chenye kitambulisho hiki. Chagua kingine.',
  next: 'Endelea',
  back: 'Rudi',
  sensorsTitle: 'Kinapima nini?',
  sensorsHint: 'Gusa yote yanayofaa. Unaweza kuongeza na kubadilisha baadaye.',
  other: 'Kitu kingine',
  otherName: 'Jina lake',
  create: 'Unda kifaa',
  sendTitle: 'Tuma thamani ya kwanza',
  waiting: 'Inasubiri thamani ya kwanza…',
  arrivedText: 'Kifaa chako kiko tayari.',
  see: 'Tazama kifaa',
  later: 'Nitafanya hivi baadaye',
  idTaken: '{id} kimeshatumika. {free} bado hakijatumika.',
  useFree: 'Tumia {id}',
  several: 'Vifaa kadhaa vya aina moja',
  howMany: 'Vingapi',
  howManyHint: 'Vinapewa namba: {first} hadi {last}.',
  howManyBad: 'Namba nzima kuanzia 1 hadi 50.',
  made: { one: 'Kifaa {count} kimeundwa', other: 'Vifaa {count} vimeundwa' },
  madeSome:
    '{made} kati ya {count} vimeundwa, kisha ikakatizwa. Jaribu tena: hivi havitaundwa ' +
    'mara mbili.',
  whichLines: 'Mistari ya',
  noSensorYet: 'Bado hakipimi chochote. Chagua kinachopima, kisha mistari itaonekana hapa.',
  addThese: 'Ongeza hivi',
  nothing: 'Hakuna kinachokuja?',
  whyLocal:
    'Mistari inasema {host}, jina ambalo kila kompyuta hujiita. Kwa mashine nyingine, ' +
    'fungua ukurasa huu kwa jina au anwani ya kompyuta hii, kisha nakili mistari upya.',
  whyText:
    'Angalia jibu ambalo kifaa chako kinapata: curl na Python huliandika, Arduino huliandika ' +
    'kwenye serial monitor.',
  why401: 'Ufunguo haupo au haujakamilika. Tengeneza mpya hapo juu.',
  why403: 'Ufunguo ni wa kifaa kingine.',
  why404:
    'Kitambulisho cha kifaa au cha kihisi kimeandikwa tofauti. Herufi kubwa na ndogo si sawa.',
  why400: 'Thamani haisomeki. Andika desimali kwa nukta, na maandishi kati ya alama za nukuu.',
  why429: 'Kinatuma mara nyingi mno. Subiri kwa muda ambao jibu linasema.',
  noAnswer: 'hakuna jibu',
  whyNoAnswer: 'Kifaa chako hakifiki {origin}. Je, kiko kwenye mtandao huohuo?',
};
