import type { Change } from '../domain/changes.ts';
import { identityOfAccount, isOfAccount } from '../domain/messaging/identity.ts';
import type { FindOrphans } from '../domain/messaging/orphans.ts';
import type {
  SessionChange,
  SessionStore,
  StoredSessions,
} from '../domain/messaging/session-store.ts';
import { topicsOf, topicsOfPart } from '../domain/messaging/topic-owner.ts';
import type { Log } from '../lib/log.ts';
import type { Broker } from './broker.ts';
import { mqttLimits } from './limits.ts';

/**
 * Ends the sessions and retained messages of a removed account, key or thing, so that no later one
 * inherits them. At once in memory; resolves when it is durable.
 */
export async function cleanUpAfter(
  change: Change,
  broker: Pick<Broker, 'forgetRetained' | 'endSessions' | 'recheck'>,
): Promise<void> {
  switch (change.kind) {
    case 'device_removed':
      return broker.forgetRetained(topicsOf({ kind: 'device', id: change.deviceId }));
    case 'gateway_removed':
      return broker.forgetRetained(topicsOf({ kind: 'gateway', id: change.gatewayId }));
    case 'sensor_removed':
      return broker.forgetRetained(topicsOfPart(change.deviceId, 'sensor', change.sensorId));
    case 'actuator_removed':
      return broker.forgetRetained(topicsOfPart(change.deviceId, 'actuator', change.actuatorId));
    case 'account_removed':
    case 'account_disabled':
      return broker.endSessions((identity) => isOfAccount(identity, change.userId));
    case 'key_removed': {
      const gone = identityOfAccount(change.userId, change.keyId);
      return broker.endSessions((identity) => identity === gone);
    }
    case 'account_changed': {
      const { userId, endedKeys } = change;
      broker.recheck((identity) => isOfAccount(identity, userId));
      if (endedKeys.length === 0) return;
      const gone = new Set(endedKeys.map((keyId) => identityOfAccount(userId, keyId)));
      return broker.endSessions((identity) => gone.has(identity));
    }
    default:
  }
}

/**
 * The store, from which nothing is loaded that a crash left between a removal and its clean-up; it
 * is dropped from the store as well.
 */
export function withoutOrphans(
  store: SessionStore,
  findOrphans: FindOrphans,
  log: Log,
): SessionStore {
  async function drop(changes: readonly SessionChange[]): Promise<void> {
    try {
      for (let at = 0; at < changes.length; at += mqttLimits.storeRowsPerStep) {
        await store.apply(changes.slice(at, at + mqttLimits.storeRowsPerStep));
      }
    } catch (error) {
      // The next start finds them again.
      log.error({ err: error }, 'what MQTT kept of removed things could not be dropped');
    }
  }

  async function without({ sessions, retained }: StoredSessions): Promise<StoredSessions> {
    const orphans = await findOrphans({ sessions, retained });
    await drop([
      ...[...orphans.sessions].map((key) => ({ kind: 'ended', key }) as const),
      ...[...orphans.topics].map((topic) => ({ kind: 'unretained', topic }) as const),
    ]);
    return {
      sessions: sessions.filter(({ key }) => !orphans.sessions.has(key)),
      retained: retained.filter(({ topic }) => !orphans.topics.has(topic)),
    };
  }

  const { shared } = store;
  return {
    ...store,
    load: async () => without(await store.load()),
    ...(shared !== undefined && {
      shared: {
        ...shared,
        async adopt() {
          const sessions = await shared.adopt();
          if (sessions.length === 0) return sessions;
          const kept = await without({ sessions, retained: [] });
          return sessions.filter((one) => kept.sessions.includes(one));
        },
      },
    }),
  };
}
