import { alerts } from './alerts.ts';
import { chart } from './chart.ts';
import { corrections } from './corrections.ts';
import { data } from './data.ts';
import { device } from './device.ts';
import { gateways } from './gateways.ts';
import { groups } from './groups.ts';
import { map } from './map.ts';
import { messages } from './messages.ts';
import { profile } from './profile.ts';
import { projects } from './projects.ts';
import { refused } from './refused.ts';
import { retention } from './retention.ts';
import { send } from './send.ts';
import { sharing } from './sharing.ts';
import { shell } from './shell.ts';
import { start } from './start.ts';
import { usage } from './usage.ts';
import { users } from './users.ts';
import { welcome } from './welcome.ts';
import { common } from './words.ts';

/** What all other screens say, in whole sections: fetched beside the first of them. */
export const laterWords = {
  alerts,
  chart,
  common,
  messages,
  shell,
  welcome,
  corrections,
  data,
  device,
  gateways,
  groups,
  map,
  profile,
  projects,
  refused,
  retention,
  send,
  sharing,
  start,
  usage,
  users,
} as const;
