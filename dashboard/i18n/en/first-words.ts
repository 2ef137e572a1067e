import { age } from './age.ts';
import { errors } from './errors.ts';
import { alerts } from './first/alerts.ts';
import { chart } from './first/chart.ts';
import { home } from './first/home.ts';
import { map } from './first/map.ts';
import { messages } from './first/messages.ts';
import { shell } from './first/shell.ts';
import { welcome } from './first/welcome.ts';
import { common } from './first/words.ts';
import { live } from './live.ts';

/** What home and the frame of every screen say: part of the first load. */
export const firstWords = {
  age,
  alerts,
  chart,
  common,
  errors,
  home,
  live,
  map,
  messages,
  shell,
  welcome,
} as const;
