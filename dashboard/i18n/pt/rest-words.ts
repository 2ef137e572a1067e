import { restOf } from '../split-words.ts';
import { dictionary } from './dictionary.ts';

/** Portuguese, what all other screens say; written out by the build. */
export const restWords = restOf(dictionary);
