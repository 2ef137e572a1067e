import { laterOf } from '../split-words.ts';
import { dictionary } from './dictionary.ts';

/** French, what a device and the map say; written out by the build. */
export const laterWords = laterOf(dictionary);
