import { plantsOfAccounts } from './accounts.ts';
import { plantsOfAlarms } from './alarms.ts';
import { plantsOfEngines } from './engines.ts';
import { plantsOfFastPath } from './fast-path.ts';
import { plantsOfHistories } from './histories.ts';
import { plantsOfMemberSessions } from './member-sessions.ts';
import { plantsOfMembers } from './members.ts';
import { plantsOfMqtt } from './mqtt.ts';
import { plantsUnderNemesis } from './nemesis.ts';
import type { Plant } from './plant.ts';
import { plantsOfPossessions } from './possessions.ts';
import { plantsOfReads } from './reads.ts';
import { plantsOfSockets } from './sockets.ts';
import { plantsOfStrangers } from './strangers.ts';
import { plantsOfValues } from './values.ts';

/** One for each mend that is known to be noticed when it is missing. */
export const plants: readonly Plant[] = [
  ...plantsOfSockets,
  ...plantsOfFastPath,
  ...plantsOfMembers,
  ...plantsOfMemberSessions,
  ...plantsUnderNemesis,
  ...plantsOfMqtt,
  ...plantsOfAlarms,
  ...plantsOfReads,
  ...plantsOfAccounts,
  ...plantsOfPossessions,
  ...plantsOfStrangers,
  ...plantsOfEngines,
  ...plantsOfHistories,
  ...plantsOfValues,
];
