import { alerts } from './alerts.ts';
import { chart } from './chart.ts';
import { device } from './device.ts';
import { home } from './home.ts';
import { map } from './map.ts';
import { shell } from './shell.ts';
import { common } from './words.ts';

/** Words of devices, filters and the map beside the frame, in whole sections. */
export const laterWords = {
  alerts,
  chart,
  common,
  shell,
  device,
  home,
  map,
} as const;
