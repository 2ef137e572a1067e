import type { UserId } from '../domain/ids.ts';
import { identityOfAccount } from '../domain/messaging/identity.ts';
import { topicsOf, topicsOfPart } from '../domain/messaging/place.ts';
import type { AccessKeyRecord } from '../domain/users/credential-store.ts';
import type { Storage } from '../storage/storage.ts';

/** Told of what was removed from the storage, before whoever removed it is answered. */
export interface RemovalListener {
  /** The thing that these topics are about is gone. */
  topicsRemoved(prefix: string): Promise<void>;
  /** Nobody has this identity any more. */
  identityRemoved(identity: string): Promise<void>;
}

/** A storage that tells of removals. */
export interface RemovalNotices {
  readonly storage: Storage;
  /** Whom to tell from now on. */
  tell(listener: RemovalListener): void;
}

/**
 * The storage, with notices of removals for parts that keep something in memory: whatever road a
 * removal takes, it ends here.
 */
export function createRemovalNotices(storage: Storage): RemovalNotices {
  let told: RemovalListener | undefined;
  const listener: RemovalListener = {
    topicsRemoved: async (prefix) => told?.topicsRemoved(prefix),
    identityRemoved: async (identity) => told?.identityRemoved(identity),
  };
  return {
    storage: withNotices(storage, listener),
    tell: (other) => {
      told = other;
    },
  };
}

function withNotices(storage: Storage, listener: RemovalListener): Storage {
  const { devices, gateways, users, credentials } = storage;
  const telling = async <Outcome>(
    removal: Promise<Outcome>,
    tell: (outcome: Outcome) => Promise<unknown>,
  ): Promise<Outcome> => {
    const outcome = await removal;
    if (outcome !== 'missing') await tell(outcome);
    return outcome;
  };
  const thingGone = (kind: 'device' | 'gateway', id: string) => () =>
    listener.topicsRemoved(topicsOf({ kind, id }));
  const partGone =
    (...part: Parameters<typeof topicsOfPart>) =>
    () =>
      listener.topicsRemoved(topicsOfPart(...part));
  const accountGone = async (userId: UserId, keys: readonly AccessKeyRecord[]): Promise<void> => {
    for (const { id } of keys) await listener.identityRemoved(identityOfAccount(userId, id));
    await listener.identityRemoved(identityOfAccount(userId));
  };
  return {
    ...storage,
    devices: {
      ...devices,
      remove: (id) => telling(devices.remove(id), thingGone('device', id)),
      removeSensor: (id, sensorId, at) =>
        telling(devices.removeSensor(id, sensorId, at), partGone(id, 'sensor', sensorId)),
      removeActuator: (id, actuatorId, at) =>
        telling(devices.removeActuator(id, actuatorId, at), partGone(id, 'actuator', actuatorId)),
    },
    gateways: {
      ...gateways,
      remove: (id) => telling(gateways.remove(id), thingGone('gateway', id)),
    },
    credentials: {
      ...credentials,
      removeKey: (userId, keyId) =>
        telling(credentials.removeKey(userId, keyId), () =>
          listener.identityRemoved(identityOfAccount(userId, keyId)),
        ),
    },
    users: {
      ...users,
      async update(userId, changes) {
        const keys = changes.isDisabled === true ? await credentials.listKeys(userId) : [];
        const outcome = await users.update(userId, changes);
        if (outcome === 'missing' || changes.isDisabled !== true) return outcome;
        await accountGone(userId, keys);
        return outcome;
      },
      async setPassword(userId, passwordHash, ends) {
        const before = ends?.keysMadeBefore;
        const keys = before === undefined ? [] : await credentials.listKeys(userId);
        const outcome = await users.setPassword(userId, passwordHash, ends);
        if (outcome === 'missing' || before === undefined) return outcome;
        const ended = keys.filter(({ createdAt }) => createdAt < before);
        for (const { id } of ended) await listener.identityRemoved(identityOfAccount(userId, id));
        return outcome;
      },
      async remove(userId) {
        const keys = await credentials.listKeys(userId);
        const outcome = await users.remove(userId);
        if (outcome === 'missing') return outcome;
        for (const id of outcome.devices) await thingGone('device', id)();
        for (const id of outcome.gateways) await thingGone('gateway', id)();
        await accountGone(userId, keys);
        return outcome;
      },
    },
  };
}
