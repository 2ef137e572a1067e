import { corrections } from './corrections.ts';
import { data } from './data.ts';
import { gateways } from './gateways.ts';
import { groups } from './groups.ts';
import { invite } from './invite.ts';
import { messages } from './messages.ts';
import { profile } from './profile.ts';
import { projects } from './projects.ts';
import { refused } from './refused.ts';
import { retention } from './retention.ts';
import { send } from './send.ts';
import { sharing } from './sharing.ts';
import { start } from './start.ts';
import { usage } from './usage.ts';
import { users } from './users.ts';
import { welcome } from './welcome.ts';

/** What all other screens say, in whole sections: fetched beside the first of them. */
export const restWords = {
  corrections,
  data,
  gateways,
  groups,
  invite,
  messages,
  profile,
  projects,
  refused,
  retention,
  send,
  sharing,
  start,
  usage,
  users,
  welcome,
} as const;
