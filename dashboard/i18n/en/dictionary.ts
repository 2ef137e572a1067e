import { age } from './age.ts';
import { chart } from './chart.ts';
import { common } from './common.ts';
import { live } from './live.ts';
import { map } from './map.ts';

/** English: the texts all other languages are held against. One file per screen. */
export const dictionary = { age, chart, common, live, map } as const;
