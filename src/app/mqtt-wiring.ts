import type { Access } from '../domain/access/access.ts';
import type { Feed } from '../domain/datapoints/feed.ts';
import { createWatch } from '../domain/datapoints/watch.ts';
import { createFindOrphans } from '../domain/messaging/orphans.ts';
import { createMayTunnel } from '../domain/messaging/tunnels.ts';
import { createAbsentActors } from '../domain/users/absent-actors.ts';
import { createAdmit } from '../domain/users/admissions.ts';
import type { Logins } from '../domain/users/logins.ts';
import type { Sessions } from '../domain/users/sessions.ts';
import type { Clock } from '../lib/clock.ts';
import type { MqttServices } from '../mqtt/mqtt-door.ts';
import type { ServiceStorage } from './service-storage.ts';

/** What MQTT asks of the domain beyond what HTTP does: who stays, who watches, who tunnels. */
export function createMqttRoads(parts: {
  readonly storage: ServiceStorage;
  readonly feed: Feed;
  readonly access: Access;
  readonly logins: Logins;
  readonly sessions: Sessions;
  readonly clock: Clock;
}): Pick<MqttServices, 'watch' | 'mayTunnel' | 'admit' | 'absentActors' | 'findOrphans'> {
  const { storage, feed, access, logins, sessions, clock } = parts;
  const { users, credentials, devices, gateways } = storage;
  return {
    watch: createWatch({ feed, devices, access }),
    mayTunnel: createMayTunnel({ devices, gateways, access }),
    findOrphans: createFindOrphans({ users, credentials, devices, gateways }),
    admit: createAdmit({ users, logins, sessions }),
    absentActors: createAbsentActors({ users, credentials, sessions, clock }),
  };
}
