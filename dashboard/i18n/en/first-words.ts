import { age } from './age.ts';
import { alerts } from './alerts.ts';
import { chart } from './chart.ts';
import { errors } from './errors.ts';
import { home } from './home.ts';
import { live } from './live.ts';
import { map } from './map.ts';
import { messages } from './messages.ts';
import { shell } from './shell.ts';
import { welcome } from './welcome.ts';
import { common } from './words.ts';

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
