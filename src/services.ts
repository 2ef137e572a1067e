import type { Config } from './config.ts';
import { createAccess } from './domain/access/access.ts';
import { createAppender } from './domain/datapoints/appender.ts';
import { createHistory } from './domain/datapoints/history.ts';
import { createIngest } from './domain/datapoints/ingest.ts';
import { createIngestMany } from './domain/datapoints/ingest-many.ts';
import { createReadMany } from './domain/datapoints/merged-history.ts';
import { createSnapshots } from './domain/datapoints/snapshots.ts';
import { createSummaries } from './domain/datapoints/summaries.ts';
import { createActuators } from './domain/devices/actuators.ts';
import { createDevices } from './domain/devices/devices.ts';
import { createMissingSensors } from './domain/devices/missing-sensors.ts';
import { createGateways } from './domain/gateways/gateways.ts';
import { createPresence } from './domain/gateways/presence.ts';
import type { Channel } from './domain/notifications/channel.ts';
import { createProjects } from './domain/projects/projects.ts';
import type { Reporter } from './domain/reporter.ts';
import { createSharing } from './domain/sharing/sharing.ts';
import { channels as socialChannels } from './domain/socials/social.ts';
import { createSocials } from './domain/socials/socials.ts';
import { createAccessKeys } from './domain/users/access-keys.ts';
import { createAccounts } from './domain/users/accounts.ts';
import { createLogins } from './domain/users/logins.ts';
import { createPasswordResets, type SendMail } from './domain/users/password-resets.ts';
import { createSessions } from './domain/users/sessions.ts';
import { createInProcessFeed } from './feed/in-process-feed.ts';
import type { Services } from './http/v2/index.ts';
import type { Clock } from './lib/clock.ts';
import type { Log } from './lib/log.ts';
import type { MqttServices } from './mqtt/mqtt-door.ts';
import { createMqttRoads } from './mqtt-roads.ts';
import { createNotificationServices } from './notification-services.ts';
import { createOwnedResources } from './owned-resources.ts';
import type { Storage } from './storage/storage.ts';

/** What the domain is built from. */
export interface ServiceParts {
  readonly config: Config;
  readonly storage: Storage;
  readonly clock: Clock;
  readonly reporter: Reporter;
  readonly log: Log;
  /** The channels that are configured. */
  readonly channels: ReadonlyMap<string, Channel>;
  readonly webhookSecretOf: Services['webhookSecretOf'];
  /** Absent: nobody can be sent mail. */
  readonly sendMail?: SendMail;
}

/** The domain, wired, for each door. */
export interface BuiltServices {
  readonly services: Services;
  readonly mqttServices: MqttServices;
  /** Before the doors are opened. */
  readonly start: () => Promise<void>;
  readonly drain: () => Promise<void>;
}

/** Builds the domain and wires it by hand; the doors are opened on top of it. */
export function createServices(parts: ServiceParts): BuiltServices {
  const { config, storage, clock, reporter, log } = parts;
  const { users, grants, datapoints } = storage;
  const settings = { publicPush: config.publicPush };
  const access = createAccess({ grants, settings });
  const people = createAccountServices(parts);
  const { sessions, logins } = people;
  const devices = createDevices({ store: storage.devices, users, grants, access, clock });
  const feed = createInProcessFeed({ log });
  const actuators = createActuators({
    store: storage.devices,
    access,
    clock,
    publish: (change) => feed.publish([{ kind: 'actuator', ...change }]),
  });
  const gateways = createGateways({ store: storage.gateways, users, grants, access, clock });
  const projects = createProjects({ store: storage.projects, grants, access });
  const { channels } = parts;
  const built = createNotificationServices({
    ...{ storage, access, feed, channels, clock, reporter, log },
    evaluateOnCreate: config.notifications.evaluateOnCreate,
  });
  const socials = createSocials({
    ...{ store: storage.socials, users, clock, onFiled: built.wake },
    configured: new Set(socialChannels.filter((channel) => channels.has(channel))),
  });
  const { find: findResource, list: listResources } = createOwnedResources(storage);
  const sharing = createSharing({ grants, users, access, findResource, listResources });
  const { consequences, notifications, preview, testMessages } = built;
  const appender = createAppender({ store: datapoints, feed, clock, reporter, consequences });
  const roadIn = { devices: storage.devices, access, appender, clock };
  const ingest = createIngest(roadIn);
  const ingestMany = createIngestMany(roadIn);
  const roadOut = { devices: storage.devices, datapoints, access };
  const readHistory = createHistory(roadOut);
  const readMany = createReadMany(roadOut);
  const snapshots = createSnapshots({ devices, datapoints, grants, access });
  const presence = createPresence();
  return {
    services: {
      ...people,
      webhookSecretOf: parts.webhookSecretOf,
      sharing,
      devices,
      actuators,
      gateways,
      presence,
      projects,
      socials,
      ...{ notifications, preview, testMessages },
      snapshots,
      ingest,
      ingestMany,
      readHistory,
      summaries: createSummaries(roadOut),
      readMany,
      missingSensors: createMissingSensors({ store: storage.devices, devices, access }),
      clock,
    },
    mqttServices: {
      ...{ ingest, actuators, gateways, presence, sessions },
      ...createMqttRoads({ storage, feed, access, logins, sessions, clock }),
    },
    start: built.start,
    drain: async () => {
      await appender.drain();
      await built.stop();
    },
  };
}

function createAccountServices({ config, storage, clock, reporter, sendMail }: ServiceParts) {
  const { users, credentials } = storage;
  const sessions = createSessions({ credentials, clock });
  const logins = createLogins({ users, clock, reporter });
  const { signup } = config.accounts;
  return {
    sessions,
    logins,
    accounts: createAccounts({ users, logins, sessions, clock, signup }),
    passwordResets: createPasswordResets({
      ...{ users, logins, sessions, clock },
      ...(sendMail && { sendMail }),
    }),
    accessKeys: createAccessKeys({ credentials, sessions, clock }),
  };
}
