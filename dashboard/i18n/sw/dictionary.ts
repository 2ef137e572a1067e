import type { Dictionary } from '../dictionary.ts';
import { age } from './age.ts';
import { chart } from './chart.ts';
import { common } from './common.ts';
import { live } from './live.ts';
import { map } from './map.ts';

/** Swahili. */
export const dictionary: Dictionary = { age, chart, common, live, map };
