import { firstOf } from '../split-words.ts';
import { dictionary } from './dictionary.ts';

/** French, as much as home and the frame say; written out by the build. */
export const firstWords = firstOf(dictionary);
