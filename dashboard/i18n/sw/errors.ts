import type { Translation } from '../dictionary.ts';

/** What went wrong, and what to do. */
export const errors: Translation<'errors'> = {
  offline: 'Huduma haifikiki. Angalia mtandao wako, kisha ujaribu tena.',
  unavailable: 'Huduma ina kazi nyingi. Jaribu tena baada ya muda mfupi.',
  internal: 'Hitilafu imetokea kwenye huduma. Jaribu tena. Ikiendelea, mwambie msimamizi.',
  forbidden: 'Huruhusiwi kufanya hivi. Mwombe mmiliki ashiriki nawe.',
  notFound: 'Hiki hakipo tena.',
  tooLarge: 'Hiki ni kikubwa mno kwa huduma.',
  rateLimited: 'Umejaribu mara nyingi mno. Jaribu tena baada ya sekunde {count}.',
  loggedOut: 'Ingia ili kufanya hivi.',
  badLogin: 'Jina la mtumiaji au nenosiri si sahihi.',
  screen: 'Ukurasa huu haukuweza kupakiwa. Angalia mtandao wako, kisha ujaribu tena.',
  crash: 'Ukurasa huu umeshindwa. Upakie tena; ulichohifadhi kiko salama.',
};
