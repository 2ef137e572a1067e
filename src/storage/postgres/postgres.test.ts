import { after, describe } from 'node:test';
import {
  emptySchema,
  findPostgres,
  onServer,
  type PostgresServer,
  schemaUrl,
  sharedPostgres,
} from '../../../test/postgres-server.ts';
import { silentLog } from '../../lib/log.ts';
import { correctionsContract } from '../contract/corrections.contract.ts';
import { credentialsContract } from '../contract/credentials.contract.ts';
import { datapointsContract } from '../contract/datapoints.contract.ts';
import { deviceListsContract } from '../contract/device-lists.contract.ts';
import { devicesContract } from '../contract/devices.contract.ts';
import { gatewaysContract } from '../contract/gateways.contract.ts';
import { grantsContract } from '../contract/grants.contract.ts';
import { groupsContract } from '../contract/groups.contract.ts';
import { mqttSessionsContract } from '../contract/mqtt-sessions.contract.ts';
import { notificationsContract } from '../contract/notifications.contract.ts';
import { projectsContract } from '../contract/projects.contract.ts';
import { reachingGrantsContract } from '../contract/reaching-grants.contract.ts';
import { shortLivedContract } from '../contract/short-lived.contract.ts';
import { socialsContract } from '../contract/socials.contract.ts';
import { usersContract } from '../contract/users.contract.ts';
import type { Storage } from '../storage.ts';
import { openPostgres } from './postgres-storage.ts';

const isAbsent = process.env['TEST_POSTGRES'] === 'off' || findPostgres() === undefined;
const skip = isAbsent ? 'needs PostgreSQL' : false;

let server: Promise<PostgresServer> | undefined;
const started = (): Promise<PostgresServer> => {
  server ??= sharedPostgres();
  return server;
};
after(async () => (await server)?.close());

/** All but what retention takes, which this engine does not do yet. */
const contracts = new Map([
  ['users', usersContract],
  ['credentials', credentialsContract],
  ['grants', grantsContract],
  ['groups', groupsContract],
  ['what grants reach', reachingGrantsContract],
  ['devices', devicesContract],
  ['lists of devices', deviceListsContract],
  ['gateways', gatewaysContract],
  ['projects', projectsContract],
  ['social messages', socialsContract],
  ['notifications', notificationsContract],
  ['what is short-lived', shortLivedContract],
  ['MQTT sessions', mqttSessionsContract],
  ['datapoints', datapointsContract],
  ['corrections', correctionsContract],
]);

async function openEmpty(): Promise<Storage> {
  const url = await schemaUrl((await started()).url, 'contract');
  const { rows } = await onServer(url, `select to_regclass('users') is not null as there`);
  if (rows[0].there) await emptySchema(url);
  return openPostgres({ url, log: silentLog });
}

describe('the postgres engine', { skip }, () => {
  for (const [name, contract] of contracts) describe(name, () => contract(openEmpty));
});
