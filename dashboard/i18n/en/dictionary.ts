import { age } from './age.ts';
import { chart } from './chart.ts';
import { errors } from './errors.ts';
import { home } from './home.ts';
import { live } from './live.ts';
import { map } from './map.ts';
import { shell } from './shell.ts';
import { welcome } from './welcome.ts';
import { common } from './words.ts';

/** English: the texts all other languages are held against. One file per screen. */
export const dictionary = { age, chart, common, errors, home, live, map, shell, welcome } as const;
