import type { Change, ChangeFeed } from '../domain/changes.ts';
import type { DeviceId } from '../domain/ids.ts';
import type { Storage } from '../storage/storage.ts';

/**
 * The storage, telling of every change that others may remember the state before of: after the
 * commit and before whoever made it is answered, whatever part of the service makes it.
 */
export function publishChanges(storage: Storage, feed: Pick<ChangeFeed, 'publishChange'>): Storage {
  const tell = createTell(feed);
  return {
    ...storage,
    devices: { ...storage.devices, ...deviceWrites(storage, tell) },
    gateways: { ...storage.gateways, ...gatewayWrites(storage, tell) },
    projects: { ...storage.projects, ...projectWrites(storage, tell) },
    groups: { ...storage.groups, ...groupWrites(storage, tell) },
    grants: { ...storage.grants, ...grantWrites(storage, tell) },
    credentials: { ...storage.credentials, ...credentialWrites(storage, tell) },
    users: { ...storage.users, ...userWrites(storage, tell) },
  };
}

/** Waits for a write, and tells what it changed; `ifUnknown`: what it may have, when it fails. */
type Tell = <Outcome>(
  write: Promise<Outcome>,
  changesBy: (outcome: Outcome) => readonly Change[],
  ifUnknown?: Change,
) => Promise<Outcome>;

function createTell(feed: Pick<ChangeFeed, 'publishChange'>): Tell {
  return async (write, changesBy, ifUnknown) => {
    let outcome: Awaited<typeof write>;
    try {
      outcome = await write;
    } catch (error) {
      // It may have been committed all the same: nobody is to count on the state before.
      if (ifUnknown !== undefined) await feed.publishChange(ifUnknown);
      throw error;
    }
    for (const change of changesBy(outcome)) await feed.publishChange(change);
    return outcome;
  };
}

/** The change, unless the store refused the write. */
const unlessRefused =
  (change: Change) =>
  (outcome: unknown): readonly Change[] =>
    refusals.has(outcome) ? [] : [change];
const refusals: ReadonlySet<unknown> = new Set(['missing', 'too_many', 'unchanged', 'gone']);

function deviceWrites({ devices }: Storage, tell: Tell) {
  const changing = <Outcome>(deviceId: DeviceId, write: Promise<Outcome>): Promise<Outcome> => {
    const change = { kind: 'device_changed', deviceId } as const;
    return tell(write, unlessRefused(change), change);
  };
  return {
    update(deviceId, changes, at) {
      const write = devices.update(deviceId, changes, at);
      if (changes.owner === undefined) return changing(deviceId, write);
      const change = { kind: 'device_handed_over', deviceId } as const;
      return tell(write, unlessRefused(change), change);
    },
    remove: (deviceId) =>
      tell(devices.remove(deviceId), unlessRefused({ kind: 'device_removed', deviceId }), {
        kind: 'device_handed_over',
        deviceId,
      }),
    putSensor: (id, sensor, at) => changing(id, devices.putSensor(id, sensor, at)),
    updateSensor: (id, sensorId, changes, at) =>
      changing(id, devices.updateSensor(id, sensorId, changes, at)),
    removeSensor: (deviceId, sensorId, at) =>
      tell(
        devices.removeSensor(deviceId, sensorId, at),
        unlessRefused({ kind: 'sensor_removed', deviceId, sensorId }),
        { kind: 'device_changed', deviceId },
      ),
    putActuator: (id, actuator, at) => changing(id, devices.putActuator(id, actuator, at)),
    stepActuator: (id, actuatorId, step) =>
      changing(id, devices.stepActuator(id, actuatorId, step)),
    updateActuator: (id, actuatorId, changes, at) =>
      changing(id, devices.updateActuator(id, actuatorId, changes, at)),
    removeActuator: (deviceId, actuatorId, at) =>
      tell(
        devices.removeActuator(deviceId, actuatorId, at),
        unlessRefused({ kind: 'actuator_removed', deviceId, actuatorId }),
        { kind: 'device_changed', deviceId },
      ),
  } satisfies Partial<Storage['devices']>;
}

function gatewayWrites({ gateways }: Storage, tell: Tell) {
  return {
    update(gatewayId, changes, at) {
      const write = gateways.update(gatewayId, changes, at);
      if (changes.owner === undefined) return write;
      const change = { kind: 'gateway_handed_over', gatewayId } as const;
      return tell(write, unlessRefused(change), change);
    },
    remove: (gatewayId) =>
      tell(gateways.remove(gatewayId), unlessRefused({ kind: 'gateway_removed', gatewayId }), {
        kind: 'gateway_handed_over',
        gatewayId,
      }),
  } satisfies Partial<Storage['gateways']>;
}

function projectWrites({ projects }: Storage, tell: Tell) {
  return {
    update(projectId, changes, by) {
      const change = { kind: 'project_changed', projectId } as const;
      return tell(projects.update(projectId, changes, by), unlessRefused(change), change);
    },
    remove(projectId) {
      const change = { kind: 'project_removed', projectId } as const;
      return tell(projects.remove(projectId), unlessRefused(change), change);
    },
  } satisfies Partial<Storage['projects']>;
}

const groupChanged = { kind: 'group_changed' } as const;

function groupWrites({ groups }: Storage, tell: Tell) {
  return {
    changeMembers: (id, change) =>
      tell(groups.changeMembers(id, change), unlessRefused(groupChanged), groupChanged),
    remove: (id) => tell(groups.remove(id), unlessRefused(groupChanged), groupChanged),
  } satisfies Partial<Storage['groups']>;
}

function grantWrites({ grants }: Storage, tell: Tell) {
  return {
    put(grant) {
      const { kind: on, resource, username } = grant;
      const change = { kind: 'grant_changed', on, resource, username } as const;
      return tell(grants.put(grant), unlessRefused(change), change);
    },
    remove(on, resource, username) {
      const change = { kind: 'grant_changed', on, resource, username } as const;
      return tell(grants.remove(on, resource, username), unlessRefused(change), change);
    },
    putForGroup: (grant) =>
      tell(grants.putForGroup(grant), unlessRefused(groupChanged), groupChanged),
    removeForGroup: (kind, resource, groupId) =>
      tell(
        grants.removeForGroup(kind, resource, groupId),
        unlessRefused(groupChanged),
        groupChanged,
      ),
  } satisfies Partial<Storage['grants']>;
}

const loginEnded = { kind: 'login_ended' } as const;

function credentialWrites({ credentials }: Storage, tell: Tell) {
  return {
    removeToken: (hash) =>
      tell(credentials.removeToken(hash), unlessRefused(loginEnded), loginEnded),
    removeSession: (userId, id) =>
      tell(credentials.removeSession(userId, id), unlessRefused(loginEnded), loginEnded),
    removeKey: (userId, keyId) =>
      tell(
        credentials.removeKey(userId, keyId),
        unlessRefused({ kind: 'key_removed', userId, keyId }),
        loginEnded,
      ),
  } satisfies Partial<Storage['credentials']>;
}

function userWrites({ users }: Storage, tell: Tell) {
  return {
    update(userId, changes) {
      const write = users.update(userId, changes);
      // Nothing else of an account says what it may do.
      if (changes.isAdmin === undefined && changes.isDisabled === undefined) return write;
      const kind = changes.isDisabled === true ? 'account_disabled' : 'account_changed';
      const change = { kind, userId, endedKeys: [] } as const;
      return tell(write, unlessRefused(change), loginEnded);
    },
    setPassword: (userId, passwordHash, ends) =>
      tell(
        users.setPassword(userId, passwordHash, ends),
        (outcome) =>
          outcome === 'missing'
            ? []
            : [{ kind: 'account_changed', userId, endedKeys: outcome.endedKeys }],
        loginEnded,
      ),
    remove: (userId) =>
      tell(
        users.remove(userId),
        (outcome) =>
          outcome === 'missing'
            ? []
            : [
                ...outcome.devices.map(
                  (deviceId) => ({ kind: 'device_removed', deviceId }) as const,
                ),
                ...outcome.gateways.map(
                  (gatewayId) => ({ kind: 'gateway_removed', gatewayId }) as const,
                ),
                { kind: 'account_removed', userId },
              ],
        loginEnded,
      ),
  } satisfies Partial<Storage['users']>;
}
