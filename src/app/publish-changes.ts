import type { Change, ChangeFeed } from '../domain/changes.ts';
import type { SensorRef } from '../domain/datapoints/datapoint.ts';
import type {
  DeviceId,
  GroupId,
  NotificationId,
  ProjectId,
  UserId,
  Username,
} from '../domain/ids.ts';
import type { ProjectChanges } from '../domain/projects/projects.ts';
import {
  changesOfKeyRemoval,
  changesOfPassword,
  changesOfUpdate,
  loginEnded,
} from '../domain/users/account-changes.ts';
import type { RemovedThings } from '../domain/users/user.ts';
import { createKeyedSequence } from '../lib/scheduling/payer-queues.ts';
import type { Storage } from '../storage/storage.ts';

/**
 * The storage, publishing every change of which the state before may be remembered elsewhere: after
 * the commit and before the caller is answered, whatever part of the service makes it.
 */
export function publishChanges(storage: Storage, feed: Pick<ChangeFeed, 'publishChange'>): Storage {
  const tell = createTell(feed);
  const ofGroups = groupWrites(storage, tell);
  return {
    ...storage,
    devices: { ...storage.devices, ...deviceWrites(storage, tell) },
    corrections: { ...storage.corrections, ...correctionWrites(storage, tell) },
    retaining: { ...storage.retaining, step: retentionStep(storage, tell) },
    gateways: { ...storage.gateways, ...gatewayWrites(storage, tell) },
    projects: { ...storage.projects, ...projectWrites(storage, tell) },
    groups: { ...storage.groups, ...ofGroups.groups },
    grants: { ...storage.grants, ...grantWrites(storage, tell), ...ofGroups.grants },
    notifications: { ...storage.notifications, ...notificationWrites(storage, tell) },
    credentials: { ...storage.credentials, ...credentialWrites(storage, tell) },
    users: { ...storage.users, ...userWrites(storage, tell) },
    installation: {
      ...storage.installation,
      changeSettings: (changes) =>
        tell(storage.installation.changeSettings(changes), { kind: 'settings_changed' }),
    },
  };
}

/**
 * Waits for a write, and publishes its changes unless the store refused it; `ifUnknown`: the change
 * that it may have made when it fails. Throws when others could not be told of a grant: who lost it
 * may have it there still. Of other changes, which may be one of several steps, they hear later.
 */
type Tell = <Outcome>(
  write: Promise<Outcome>,
  changes: Change | ((outcome: Outcome) => readonly Change[]),
  ifUnknown?: Change,
) => Promise<Outcome>;

const refusals: ReadonlySet<unknown> = new Set(['missing', 'too_many', 'unchanged', 'gone']);

function createTell(feed: Pick<ChangeFeed, 'publishChange'>): Tell {
  return async (write, changes, ifUnknown = 'kind' in changes ? changes : undefined) => {
    let outcome: Awaited<typeof write>;
    try {
      outcome = await write;
    } catch (error) {
      // The write may have been committed all the same: no process may count on the state before.
      if (ifUnknown !== undefined) await feed.publishChange(ifUnknown).catch(() => undefined);
      throw error;
    }
    if (refusals.has(outcome)) return outcome;
    const told = 'kind' in changes ? [changes] : changes(outcome);
    for (const change of told) {
      await feed.publishChange(change).catch((error: unknown) => {
        if (change.kind === 'grant_changed') throw error;
      });
    }
    return outcome;
  };
}

function deviceWrites({ devices }: Storage, tell: Tell) {
  const changing =
    <Given extends readonly unknown[], Outcome>(
      write: (id: DeviceId, ...given: Given) => Promise<Outcome>,
    ) =>
    (deviceId: DeviceId, ...given: Given): Promise<Outcome> =>
      tell(write(deviceId, ...given), { kind: 'device_changed', deviceId });
  return {
    update(deviceId, changes, at) {
      const kind = changes.owner === undefined ? 'device_changed' : 'device_handed_over';
      return tell(devices.update(deviceId, changes, at), { kind, deviceId });
    },
    remove: (deviceId) =>
      tell(
        devices.remove(deviceId),
        { kind: 'device_removed', deviceId },
        { kind: 'device_handed_over', deviceId },
      ),
    putSensor: changing(devices.putSensor),
    updateSensor: changing(devices.updateSensor),
    removeSensor: (deviceId, sensorId, at) =>
      tell(
        devices.removeSensor(deviceId, sensorId, at),
        { kind: 'sensor_removed', deviceId, sensorId },
        { kind: 'device_changed', deviceId },
      ),
    putActuator: changing(devices.putActuator),
    stepActuator: changing(devices.stepActuator),
    updateActuator: changing(devices.updateActuator),
    removeActuator: (deviceId, actuatorId, at) =>
      tell(
        devices.removeActuator(deviceId, actuatorId, at),
        { kind: 'actuator_removed', deviceId, actuatorId },
        { kind: 'device_changed', deviceId },
      ),
  } satisfies Partial<Storage['devices']>;
}

const corrected = ({ deviceId, sensorId }: SensorRef) =>
  ({ kind: 'datapoints_corrected', deviceId, sensorId }) as const;

/** Each process counts what is removed, and has to know what went of it. */
const retentionStep =
  ({ retaining }: Storage, tell: Tell): Storage['retaining']['step'] =>
  (sensor, limits) => {
    const [step, change] = [retaining.step(sensor, limits), corrected(sensor)];
    return tell(step, ({ isCorrected }) => (isCorrected === true ? [change] : []), change);
  };

function correctionWrites({ corrections }: Storage, tell: Tell) {
  return {
    insert: (correction) => tell(corrections.insert(correction), corrected(correction)),
    remove: (sensor, id) => tell(corrections.remove(sensor, id), corrected(sensor)),
  } satisfies Partial<Storage['corrections']>;
}

function gatewayWrites({ gateways }: Storage, tell: Tell) {
  return {
    update(gatewayId, changes, at) {
      const write = gateways.update(gatewayId, changes, at);
      if (changes.owner === undefined) return write;
      return tell(write, { kind: 'gateway_handed_over', gatewayId });
    },
    remove: (gatewayId) =>
      tell(
        gateways.remove(gatewayId),
        { kind: 'gateway_removed', gatewayId },
        { kind: 'gateway_handed_over', gatewayId },
      ),
  } satisfies Partial<Storage['gateways']>;
}

function projectWrites({ projects }: Storage, tell: Tell) {
  const inTurn = createKeyedSequence();

  /** Changes a project, one write at a time: what it listed before is what the write finds. */
  const changing = <Outcome>(
    kind: 'project_changed' | 'project_removed',
    projectId: ProjectId,
    { deviceIds = [], gatewayIds = [] }: ProjectChanges,
    write: () => Promise<Outcome>,
  ): Promise<Outcome> =>
    inTurn(projectId, async () => {
      const before = await projects.find(projectId);
      return tell(write(), {
        ...{ kind, projectId },
        deviceIds: [...(before?.deviceIds ?? []), ...deviceIds],
        gatewayIds: [...(before?.gatewayIds ?? []), ...gatewayIds],
      });
    });
  return {
    update: (id, changes, by) =>
      changing('project_changed', id, changes, () => projects.update(id, changes, by)),
    remove: (id) => changing('project_removed', id, {}, () => projects.remove(id)),
  } satisfies Partial<Storage['projects']>;
}

/** Writes of groups: grants to a group, like its members, change what reaches the members. */
function groupWrites({ groups, grants }: Storage, tell: Tell) {
  const inTurn = createKeyedSequence();

  /** Changes a group, one write at a time: its members before are those whom the write finds. */
  const changing = <Outcome>(
    id: GroupId,
    joining: readonly Username[],
    write: () => Promise<Outcome>,
  ): Promise<Outcome> =>
    inTurn(id, async () => {
      const usernames = [...((await groups.find(id))?.usernames ?? []), ...joining];
      return tell(write(), { kind: 'group_changed', usernames });
    });
  return {
    groups: {
      changeMembers: (id, change) =>
        changing(id, change.in, () => groups.changeMembers(id, change)),
      remove: (id) => changing(id, [], () => groups.remove(id)),
    } satisfies Partial<Storage['groups']>,
    grants: {
      putForGroup: (grant) => changing(grant.groupId, [], () => grants.putForGroup(grant)),
      removeForGroup: (kind, resource, id) =>
        changing(id, [], () => grants.removeForGroup(kind, resource, id)),
    } satisfies Partial<Storage['grants']>,
  };
}

function grantWrites({ grants }: Storage, tell: Tell) {
  return {
    put(grant) {
      const { kind: on, resource, username } = grant;
      return tell(grants.put(grant), { kind: 'grant_changed', on, resource, username });
    },
    async remove(on, resource, username) {
      const change = { kind: 'grant_changed', on, resource, username } as const;
      const outcome = await tell(grants.remove(on, resource, username), change);
      // Another process may have removed it, and lost the database before it could tell.
      if (outcome === 'missing') await tell(Promise.resolve(), change);
      return outcome;
    },
  } satisfies Partial<Storage['grants']>;
}

function notificationWrites({ notifications }: Storage, tell: Tell) {
  const changed = (notificationId: NotificationId) =>
    ({ kind: 'rule_changed', notificationId }) as const;
  return {
    insert: (notification, tally) =>
      tell(notifications.insert(notification, tally), changed(notification.id)),
    update: (id, changes, at) => tell(notifications.update(id, changes, at), changed(id)),
    remove: (id) => tell(notifications.remove(id), changed(id)),
  } satisfies Partial<Storage['notifications']>;
}

function credentialWrites({ credentials }: Storage, tell: Tell) {
  return {
    removeToken: (hash) => tell(credentials.removeToken(hash), loginEnded),
    removeSession: (userId, id) => tell(credentials.removeSession(userId, id), loginEnded),
    removeKey: (userId, keyId) =>
      tell(
        credentials.removeKey(userId, keyId),
        () => changesOfKeyRemoval(userId, keyId),
        loginEnded,
      ),
  } satisfies Partial<Storage['credentials']>;
}

function userWrites({ users }: Storage, tell: Tell) {
  return {
    insert: (user, passwordHash) =>
      tell(users.insert(user, passwordHash), (outcome) =>
        outcome === 'inserted' && user.isSignUp === true
          ? [{ kind: 'user_added', userId: user.id }]
          : [],
      ),
    update(userId, changes) {
      const write = users.update(userId, changes);
      const told = changesOfUpdate(userId, changes);
      return told.length === 0 ? write : tell(write, () => told, loginEnded);
    },
    setPassword: (userId, passwordHash, ends) =>
      tell(
        users.setPassword(userId, passwordHash, ends),
        (outcome) => changesOfPassword(userId, outcome),
        loginEnded,
      ),
    remove: (userId) =>
      tell(
        users.remove(userId),
        (outcome) => (outcome === 'missing' ? [] : removalsWith(userId, outcome)),
        loginEnded,
      ),
  } satisfies Partial<Storage['users']>;
}

const removalsWith = (userId: UserId, { devices, gateways }: RemovedThings): readonly Change[] => [
  ...devices.map((deviceId) => ({ kind: 'device_removed', deviceId }) as const),
  ...gateways.map((gatewayId) => ({ kind: 'gateway_removed', gatewayId }) as const),
  { kind: 'account_removed', userId },
];
