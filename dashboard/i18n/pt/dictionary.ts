import type { Dictionary } from '../dictionary.ts';
import { age } from './age.ts';
import { alerts } from './alerts.ts';
import { chart } from './chart.ts';
import { corrections } from './corrections.ts';
import { data } from './data.ts';
import { device } from './device.ts';
import { errors } from './errors.ts';
import { gateways } from './gateways.ts';
import { groups } from './groups.ts';
import { home } from './home.ts';
import { invite } from './invite.ts';
import { live } from './live.ts';
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

/** Portuguese. */
export const dictionary: Dictionary = {
  age,
  alerts,
  chart,
  common,
  corrections,
  data,
  device,
  errors,
  gateways,
  groups,
  invite,
  home,
  live,
  map,
  messages,
  profile,
  projects,
  send,
  refused,
  retention,
  sharing,
  shell,
  start,
  usage,
  users,
  welcome,
};
