import { firstWords } from './first-words.ts';
import { laterWords } from './later-words.ts';
import { restWords } from './rest-words.ts';

/** English: the texts all other languages are held against. One file per screen. */
export const dictionary = { ...firstWords, ...laterWords, ...restWords } as const;
