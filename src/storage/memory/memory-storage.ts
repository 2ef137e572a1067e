import {
  createCorrectedDatapoints,
  createPushedDatapoints,
} from '../../domain/datapoints/corrections/corrected-datapoints.ts';
import { createCorrectionBook } from '../../domain/datapoints/corrections/correction-book.ts';
import type { SensorRef } from '../../domain/datapoints/datapoint.ts';
import { createRetaining, type Retaining } from '../../domain/datapoints/retention/retaining.ts';
import { sensorOf } from '../../domain/devices/device.ts';
import type { Storage } from '../storage.ts';
import { createCorrectionStore } from './corrections.ts';
import { createCredentialStore } from './credentials.ts';
import { createDatapointStore } from './datapoints.ts';
import { createDeviceStore } from './devices.ts';
import { createGatewayStore } from './gateways.ts';
import { createGrantStore } from './grants.ts';
import { createGroupStore } from './groups.ts';
import { createInstallationStore } from './installation.ts';
import { createInvitationStore } from './invitations.ts';
import { createMemoryState } from './memory-state.ts';
import { createNotificationStore } from './notifications.ts';
import { createOutboxStore } from './outbox.ts';
import { createProjectStore } from './projects.ts';
import { createRetentionStore } from './retentions.ts';
import { createSessionStore } from './sessions.ts';
import {
  createCallTextStore,
  createFailureStore,
  createPasswordResetStore,
} from './short-lived.ts';
import { createSocialStore } from './socials.ts';
import { createUserStore } from './users.ts';

/** The engine that keeps nothing: for tests and demonstrations, with the promises of the others. */
export function createMemoryStorage(): Storage {
  const state = createMemoryState();
  const hasSensor = ({ deviceId, sensorId }: SensorRef): boolean => {
    const device = state.devices.get(deviceId);
    return device !== undefined && sensorOf(device, sensorId) !== undefined;
  };
  const pushed = createDatapointStore(hasSensor, state.mqttSessions);
  const filed = createCorrectionStore(state, hasSensor);
  const corrections = createCorrectionBook(filed);
  const datapoints = createCorrectedDatapoints(pushed, corrections);
  const retentions = createRetentionStore(state, pushed.oldest);
  const take: Retaining['step'] = async (sensor, limits) => {
    const overlay = await corrections.overlayOf(sensor);
    const step = pushed.takeOld(sensor, limits, overlay?.showColumns ?? ((columns) => columns));
    if (limits.rawBefore !== undefined) filed.removeBefore(sensor, limits.rawBefore);
    return step;
  };
  state.forgetDatapoints = (deviceId, sensorId) => {
    pushed.forget(deviceId, sensorId);
    filed.forget(deviceId, sensorId);
    corrections.forget(deviceId, sensorId);
    retentions.forget(deviceId, sensorId);
  };
  return {
    users: createUserStore(state),
    credentials: createCredentialStore(state),
    grants: createGrantStore(state),
    groups: createGroupStore(state),
    invitations: createInvitationStore(state),
    devices: createDeviceStore(state, pushed),
    gateways: createGatewayStore(state),
    projects: createProjectStore(state),
    socials: createSocialStore(state),
    notifications: createNotificationStore(state),
    outbox: createOutboxStore(state),
    datapoints,
    pushedDatapoints: createPushedDatapoints(pushed, corrections),
    corrections,
    retentions,
    retaining: createRetaining({
      ...{ pushed, datapoints, book: corrections, take },
      ...pushed.retained,
    }),
    mqttSessions: createSessionStore(state),
    installation: createInstallationStore(),
    passwordResets: createPasswordResetStore(state),
    failures: createFailureStore(),
    callTexts: createCallTextStore(),
    newestReceived: pushed.newestReceived,
    ping: async () => undefined,
    close: async () => undefined,
  };
}
