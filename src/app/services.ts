import { isUtf8 } from 'node:buffer';
import { createGrantDirectory } from '../domain/access/grant-directory.ts';
import { type Access, createAccess } from '../domain/access/policy.ts';
import { countFailedMessages, createServiceState } from '../domain/administration/service-state.ts';
import { createUsage } from '../domain/budgets/budgets.ts';
import { createLongWork, type LongWork } from '../domain/budgets/long-work.ts';
import { type Appender, createAppender } from '../domain/datapoints/appender.ts';
import { createCorrections } from '../domain/datapoints/corrections/corrections.ts';
import { createHistory, createReadAfter } from '../domain/datapoints/history.ts';
import { createIngest } from '../domain/datapoints/ingest.ts';
import { createIngestMany } from '../domain/datapoints/ingest-many.ts';
import { createReadLastValues } from '../domain/datapoints/last-values.ts';
import { createReadMany } from '../domain/datapoints/merged-history.ts';
import { createRefusedPushes } from '../domain/datapoints/refused-pushes.ts';
import { createRetentionRunner } from '../domain/datapoints/retention/retention-runner.ts';
import { createRetentions } from '../domain/datapoints/retention/retentions.ts';
import { createSnapshots } from '../domain/datapoints/snapshots.ts';
import { createSummaries } from '../domain/datapoints/summaries.ts';
import { createWatch } from '../domain/datapoints/watch.ts';
import { type ActuatorChange, createActuators } from '../domain/devices/actuators.ts';
import { createDevices, removeDevicesOf } from '../domain/devices/devices.ts';
import { createMissingSensors } from '../domain/devices/missing-sensors.ts';
import { createTimedSettings } from '../domain/devices/timed-settings.ts';
import { createGateways } from '../domain/gateways/gateways.ts';
import { createPresence } from '../domain/gateways/presence.ts';
import { createImportAccounts } from '../domain/groups/account-import.ts';
import { createGroups } from '../domain/groups/groups.ts';
import type { Username } from '../domain/ids.ts';
import { createDeviceTopics } from '../domain/messaging/device-topics.ts';
import { createFindOrphans } from '../domain/messaging/orphans.ts';
import { unpaidReason } from '../domain/notifications/delivery.ts';
import { createOwnedResources } from '../domain/projects/owned-resources.ts';
import { createProjects } from '../domain/projects/projects.ts';
import { createInvitations } from '../domain/sharing/invitations.ts';
import { createSharing } from '../domain/sharing/sharing.ts';
import { createSocials, channels as socialChannels } from '../domain/socials/socials.ts';
import { createAccounts } from '../domain/users/accounts.ts';
import { createAddressProving } from '../domain/users/address-proofs.ts';
import { createAuthenticateClient } from '../domain/users/client-authentication.ts';
import { createOfflineActors } from '../domain/users/credential-directory.ts';
import { createFailureLimiters } from '../domain/users/failure-limiters.ts';
import { createFirstLogin } from '../domain/users/first-login.ts';
import { createDeviceCookies, createLogins, type Logins } from '../domain/users/logins.ts';
import { createPasswordResets } from '../domain/users/password-resets.ts';
import { createPasswordWork } from '../domain/users/password-work.ts';
import { createAccessKeys, createSessions, type Sessions } from '../domain/users/sessions.ts';
import type { Services } from '../http/v2/services.ts';
import { createTakeLargePush } from '../wire/large-push.ts';
import { createNotificationServices } from './notification-services.ts';
import type { ServiceParts } from './service-parts.ts';

/** The domain, wired, for each server. */
export type BuiltServices = ReturnType<typeof createServices>;

/** Creates the services that show administrators the service as a whole. */
function createAdminServices(
  { budgets, storage, facts, settings, room }: ServiceParts,
  failedMessages: ReadonlyMap<string, number>,
): Pick<Services, 'usage' | 'serviceState' | 'settings'> {
  const { users, installation } = storage;
  return {
    usage: createUsage({ budgets, users }),
    serviceState: createServiceState({ facts, installation, settings, room, failedMessages }),
    settings,
  };
}

/** Builds the domain and wires it by hand; the servers are opened on top of it. */
export function createServices(parts: ServiceParts) {
  const { config, storage, feed, clock, room } = parts;
  const { reporter, failedMessages } = countFailedMessages(parts.reporter);
  const { users, grants, datapoints } = storage;
  const settings = { publicPush: config.publicPush };
  const access = createAccess({ grants: createGrantDirectory(grants, feed), settings });
  const longWork = createLongWork(parts.budgets);
  const { people, failures } = createAccountServices(parts, longWork);
  const { sessions, logins } = people;
  const devices = createDevices({ ...parts, ...storage, store: storage.devices, access });
  const { valueBytesMax } = config.datapoints;
  const { actuators, timedSettings } = createActuatorServices(parts, access);
  const gateways = createGateways({ store: storage.gateways, users, grants, access, clock });
  const projects = createProjects({ store: storage.projects, grants, access });
  const { channels } = parts;
  const built = createNotificationServices({ ...parts, access, reporter, longWork });
  const socials = createSocials({
    ...{ store: storage.socials, users, clock, onFiled: built.wake },
    configured: new Set(socialChannels.filter((channel) => channels.has(channel))),
  });
  const { notifications, preview, testMessages } = built;
  const appender = createAppender({ store: datapoints, feed, clock, reporter, ...built });
  const pushPath = createPushServices(parts, { access, appender, longWork });
  const { pushedDatapoints, corrections: book } = storage;
  const readPath = { devices: storage.devices, datapoints, pushedDatapoints, access, longWork };
  const readMany = createReadMany(readPath);
  const { retentions, runner } = createRetentionServices(parts, readPath);
  const snapshots = createSnapshots({
    ...{ devices, datapoints, grants, access, longWork },
    store: storage.devices,
  });
  const presence = parts.presence ?? createPresence();
  return {
    services: {
      ...people,
      webhookSecretOf: parts.webhookSecretOf,
      ...createSharingServices(parts, access),
      ...{ devices, actuators, gateways, presence, projects, socials, snapshots },
      ...{ notifications, preview, testMessages, ...pushPath },
      readHistory: createHistory(readPath),
      readAfter: createReadAfter({ ...readPath, book }),
      summaries: createSummaries(readPath),
      corrections: createCorrections({ ...readPath, book, clock, room, valueBytesMax }),
      retentions,
      readMany,
      readLastValues: createReadLastValues(readPath),
      missingSensors: createMissingSensors({ store: storage.devices, devices, access }),
      ...createAdminServices(parts, failedMessages),
      room,
      clock,
    },
    mqttServices: {
      ...{ ...pushPath, actuators, gateways, presence, sessions },
      ...createMqttParts(parts, { access, logins, sessions }),
    },
    /** Before the ports are opened. */
    start: async () => {
      await failures.load();
      await built.start();
      await timedSettings.start();
      runner.start();
    },
    /** Another process that serves the same data may have come, or ended. */
    onOthers: timedSettings.takeOver,
    drain: async () => {
      await runner.stop();
      await timedSettings.stop();
      await appender.drain();
      await built.stop();
      await failures.save();
    },
  };
}

/** Creates what MQTT asks of the domain beyond HTTP's part: who may connect, and watch. */
function createMqttParts(
  { storage, feed, clock }: ServiceParts,
  by: { readonly access: Access; readonly logins: Logins; readonly sessions: Sessions },
) {
  const { users, credentials, devices, gateways } = storage;
  return {
    lastValue: storage.datapoints.lastValue,
    watch: createWatch({ feed, devices, ...by }),
    deviceTopics: createDeviceTopics({ devices, gateways, ...by }),
    findOrphans: createFindOrphans({ users, credentials, devices, gateways }),
    admit: createAuthenticateClient({ users, ...by }),
    offlineActors: createOfflineActors({ users, credentials, ...by, changes: feed, clock }),
  };
}

/** How things are shared: with users and groups, and by links. */
function createSharingServices({ storage, clock }: ServiceParts, access: Access) {
  const { users, grants, groups, invitations: store } = storage;
  const { find: findResource, list: listResources, nameOf } = createOwnedResources(storage);
  const shared = { users, grants, groups, access, findResource };
  return {
    sharing: createSharing({ ...shared, listResources }),
    invitations: createInvitations({ ...shared, store, clock, nameOf }),
  };
}

/** How long datapoints are kept, and what takes those that are older. */
function createRetentionServices(
  { config, storage, clock, log, reporter }: ServiceParts,
  { access, longWork }: { readonly access: Access; readonly longWork: LongWork },
) {
  const { devices, retentions: store, retaining, pushedDatapoints } = storage;
  const shared = { store, pushedDatapoints, clock, ofService: config.datapoints.retention };
  const runner = createRetentionRunner({ ...shared, retaining, log, reporter });
  const given = { ...shared, devices, access, longWork, onSet: runner.soon };
  return { runner, retentions: createRetentions(given) };
}

/** Creates the services that take datapoints in, and remember what was refused. */
function createPushServices(
  parts: ServiceParts,
  given: { readonly access: Access; readonly appender: Appender; readonly longWork: LongWork },
) {
  const { storage, clock, room } = parts;
  const { devices, users } = storage;
  const { valueBytesMax } = parts.config.datapoints;
  const { access } = given;
  const path = { devices, ...given, clock, valueBytesMax, room };
  const refusedPushes = createRefusedPushes({ devices, users, access, clock });
  const ingestMany = createIngestMany({
    ...path,
    onRefused: (actor, line, error) =>
      void refusedPushes.note({ via: 'http', code: error.code, error, actor, ...line }),
  });
  const takeLargePush = createTakeLargePush({ valueBytesMax, isUtf8 });
  return { ingest: createIngest(path), ingestMany, refusedPushes, takeLargePush };
}

/** Actuators, with what sets them back. */
function createActuatorServices(parts: ServiceParts, access: Access) {
  const { config, storage, feed, budgets, clock, log, room } = parts;
  const { devices: store } = storage;
  const publish = (change: ActuatorChange): void => feed.publish([{ kind: 'actuator', ...change }]);
  const budget = budgets.of('timed_settings');
  const timedSettings = createTimedSettings({
    ...{ store, budget, publish, clock, log },
    isShared: storage.members !== undefined,
  });
  const { valueBytesMax } = config.datapoints;
  const actuators = createActuators({
    ...{ store, access, clock, publish, valueBytesMax, timedSettings, room },
    told: feed.told,
  });
  return { actuators, timedSettings };
}

/** A code by text or call counts as a message does: towards the credit and the day. */
const codePayment =
  ({ config, storage, clock }: ServiceParts) =>
  async (payer: Username, channel: 'sms' | 'voice'): Promise<string | undefined> => {
    const perDay = config.notifications.messagesPerDay;
    const payment = await storage.outbox.pay(payer, channel, clock.now(), perDay);
    return payment === 'paid' ? undefined : unpaidReason(channel, payment);
  };

function createAccountServices(parts: ServiceParts, longWork: LongWork) {
  const { config, storage, clock, reporter, codes, log, installationSecret } = parts;
  const { users, credentials } = storage;
  const sessions = createSessions({ credentials, clock, changes: parts.feed });
  const work = createPasswordWork(parts.passwordCost);
  const others = parts.peers && { talk: parts.peers, secret: installationSecret };
  const failures = createFailureLimiters({ store: storage.failures, clock, others });
  const deviceCookies = createDeviceCookies(installationSecret);
  const logins = createLogins({ users, work, deviceCookies, failures, clock, reporter });
  const { smsCreditNew, adminUsername } = config.accounts;
  const signUpNow = () => parts.settings.current().signUp;
  const { passwordResets: pending } = storage;
  const groups = createGroups({ store: storage.groups });
  const people = {
    groups,
    importAccounts: createImportAccounts({ users, store: storage.groups, groups, work, clock }),
    sessions,
    logins,
    accounts: createAccounts({
      ...{ users, logins, work, clock, longWork, signUpNow, smsCreditNew },
      removeMuchOf: (owner) => removeDevicesOf(storage.devices, owner),
      countDevices: (owners) => storage.devices.countOwnedByEach(owners),
    }),
    firstLogin: createFirstLogin({
      ...{ users, work, failures, clock, pending, reporter },
      username: adminUsername,
    }),
    passwordResets: createPasswordResets({ users, work, failures, clock, codes, log, pending }),
    addressProving: createAddressProving({
      ...{ users, failures, clock, codes },
      pay: codePayment(parts),
    }),
    accessKeys: createAccessKeys({ credentials, clock }),
  };
  return { people, failures };
}
