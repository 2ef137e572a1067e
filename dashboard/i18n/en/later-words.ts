import { alerts } from './alerts.ts';
import { chart } from './chart.ts';
import { device } from './device.ts';
import { home } from './home.ts';
import { map } from './map.ts';
import { shell } from './shell.ts';
import { common } from './words.ts';

/** What a device, filters and the map say beside the frame, in whole sections. */
export const laterWords = {
  alerts,
  chart,
  common,
  shell,
  device,
  home,
  map,
} as const;
