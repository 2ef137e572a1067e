import type { Change } from '../domain/changes.ts';
import type { Datapoint, SensorRef } from '../domain/datapoints/datapoint.ts';
import { topicsOf, topicsOfPart } from '../domain/messaging/device-topics.ts';
import { identityOfAccount, isOfAccount } from '../domain/messaging/identity.ts';
import type { Message } from '../domain/messaging/message.ts';
import type { FindOrphans } from '../domain/messaging/orphans.ts';
import type {
  SessionChange,
  SessionStore,
  StoredSessions,
} from '../domain/messaging/session-store.ts';
import { createLruCache } from '../lib/cache.ts';
import type { Log } from '../lib/log.ts';
import { sameJson } from '../lib/long-json.ts';
import { pushedText } from '../wire/datapoint.ts';
import type { Broker } from './broker.ts';
import { mqttLimits } from './limits.ts';
import { readPublishedValues } from './payload.ts';
import { valueTopic } from './topics.ts';

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

  async function without(stored: StoredSessions): Promise<StoredSessions> {
    const { sessions, retained } = stored;
    const orphans = await findOrphans({ sessions, retained });
    await drop([
      ...[...orphans.sessions].map((key) => ({ kind: 'ended', key }) as const),
      ...[...orphans.topics].map((topic) => ({ kind: 'unretained', topic }) as const),
    ]);
    return {
      ...stored,
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
        async adopt(known) {
          const sessions = await shared.adopt(known);
          if (sessions.length === 0) return sessions;
          const kept = await without({ sessions, retained: [] });
          return sessions.filter((one) => kept.sessions.includes(one));
        },
      },
    }),
  };
}

/**
 * Aligns the retained value of a sensor with its last value, durably [contract 10]: replaces one
 * that differs, and forgets it where no value is left; it is retained again when that is undone.
 */
export function createCorrectRetained(
  broker: Pick<Broker, 'findRetained' | 'retain'>,
  lastValue: (sensor: SensorRef) => Promise<Datapoint | undefined>,
): (sensor: SensorRef) => Promise<void> {
  /** Topics on which a value was retained until it was removed. */
  const emptied = createLruCache<string, Message>(mqttLimits.emptiedTopicsMax);

  return async (sensor) => {
    const topic = valueTopic(sensor);
    for (let tries = 0; tries < triesMax; tries += 1) {
      const former = broker.findRetained(topic);
      const like = former ?? emptied.get(topic);
      if (like === undefined) return;
      const last = await lastValue(sensor);
      // Retained anew meanwhile: that is newer than what was read.
      if (broker.findRetained(topic) !== former) continue;
      if (last === undefined) {
        if (former === undefined) return;
        emptied.set(topic, { ...former, payload: nothing });
        return broker.retain({ ...former, payload: nothing });
      }
      emptied.delete(topic);
      if (former !== undefined && isSame(former, last)) return;
      return broker.retain({ ...like, retain: true, payload: Buffer.from(pushedText(last)) });
    }
  };
}

const triesMax = 5;
const nothing = new Uint8Array();

function isSame({ payload }: Message, last: Datapoint): boolean {
  try {
    const { datapoints } = readPublishedValues(payload);
    const one = datapoints.at(0);
    if (one === undefined || datapoints.length > 1) return false;
    return one.timestamp === last.timestamp && sameJson(one.value, last.value);
  } catch {
    return false;
  }
}
