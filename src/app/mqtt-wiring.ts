import type { Access } from '../domain/access/access.ts';
import type { Feed } from '../domain/datapoints/feed.ts';
import { createWatch } from '../domain/datapoints/watch.ts';
import { createDeviceTopics } from '../domain/messaging/device-topics.ts';
import { createFindOrphans } from '../domain/messaging/orphans.ts';
import { createAuthenticateClient } from '../domain/users/client-authentication.ts';
import { createOfflineActors } from '../domain/users/credential-directory.ts';
import type { Logins } from '../domain/users/logins.ts';
import type { Sessions } from '../domain/users/sessions.ts';
import type { Clock } from '../lib/clock.ts';
import type { MqttServices } from '../mqtt/mqtt-server.ts';
import type { ServiceStorage } from './service-storage.ts';

/**
 * Wires what MQTT asks of the domain beyond HTTP's part: who is connected, who watches, who uses
 * device topics.
 */
export function createMqttWiring(parts: {
  readonly storage: ServiceStorage;
  readonly feed: Feed;
  readonly access: Access;
  readonly logins: Logins;
  readonly sessions: Sessions;
  readonly clock: Clock;
}): Pick<
  MqttServices,
  'watch' | 'deviceTopics' | 'admit' | 'offlineActors' | 'findOrphans' | 'lastValue'
> {
  const { storage, feed, access, logins, sessions, clock } = parts;
  const { users, credentials, devices, gateways } = storage;
  return {
    lastValue: storage.datapoints.lastValue,
    watch: createWatch({ feed, devices, access }),
    deviceTopics: createDeviceTopics({ devices, gateways, access }),
    findOrphans: createFindOrphans({ users, credentials, devices, gateways }),
    admit: createAuthenticateClient({ users, logins, sessions }),
    offlineActors: createOfflineActors({ users, credentials, sessions, clock }),
  };
}
