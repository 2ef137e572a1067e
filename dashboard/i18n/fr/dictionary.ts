import type { Dictionary } from '../dictionary.ts';
import { age } from './age.ts';
import { chart } from './chart.ts';
import { live } from './live.ts';
import { map } from './map.ts';
import { common } from './words.ts';

/** French. */
export const dictionary: Dictionary = { age, chart, common, live, map };
