import {
  createCorrectedDatapoints,
  createCorrectionBook,
  createPushedDatapoints,
} from '../../domain/datapoints/corrections/correction-book.ts';
import type { SensorRef } from '../../domain/datapoints/datapoint.ts';
import type { DatapointStore } from '../../domain/datapoints/datapoint-store.ts';
import {
  createRetaining,
  type Retaining,
  type RetentionStep,
} from '../../domain/datapoints/retention/retaining.ts';
import type {
  RetainedSensor,
  RetentionLimits,
} from '../../domain/datapoints/retention/retention.ts';
import type { DeviceId, SensorId } from '../../domain/ids.ts';
import type { Instant } from '../../lib/clock.ts';
import type { Storage } from '../storage.ts';
import { createCorrectionStore } from './corrections.ts';
import { createCredentialStore } from './credentials.ts';
import { createDeviceStore, type DeviceStoreOptions } from './devices.ts';
import { createGatewayStore } from './gateways.ts';
import { createGrantStore } from './grants.ts';
import { createGroupStore } from './groups.ts';
import { createInstallationStore } from './installation.ts';
import { createInvitationStore } from './invitations.ts';
import { createNotificationStore } from './notifications.ts';
import { createOutboxStore } from './outbox.ts';
import { createProjectStore } from './projects.ts';
import type { ReadReach } from './resources.ts';
import { createRetentionStore, type RetentionTables } from './retentions.ts';
import type { SqlContext } from './session.ts';
import {
  createCallTextStore,
  createFailureStore,
  createPasswordResetStore,
} from './short-lived.ts';
import { createSocialStore } from './socials.ts';
import { createUserStore } from './users.ts';
import type { SqlWrites } from './writes.ts';

/** Datapoints as an engine keeps them: as they were pushed. */
export interface PushedStore extends DatapointStore, Pick<Storage, 'newestReceived'> {
  /** Takes one step of retention. */
  takeOld(sensor: SensorRef, limits: RetentionLimits): Promise<RetentionStep>;
  /** The state that retention left, and the means to restore it. */
  readonly retained: Pick<Retaining, 'state' | 'restore'>;
  /**
   * Drops what is in memory of a removed sensor, or of all sensors of a removed device. Optional:
   * engines that keep no datapoints in memory leave it and the next one out.
   */
  forget?(deviceId: DeviceId, sensorId?: SensorId): void;
  /** When the oldest datapoint of a sensor is of that is not in chunks; Infinity: there is none. */
  oldestUnflushed?(sensor: Pick<RetainedSensor, 'deviceId' | 'sensorId' | 'number'>): Instant;
}

/** Parts that an engine gives the stores that both engines use. */
export interface SqlEngine {
  readonly pushed: PushedStore;
  readonly readReach: ReadReach;
  readonly devices: Omit<DeviceStoreOptions, 'forget'>;
  readonly retentionTables: RetentionTables;
  readonly installation: Parameters<typeof createInstallationStore>[1];
}

/** Makes the stores that both engines use; it reads what corrections reach. */
export async function createSqlStores(
  context: SqlContext<SqlWrites>,
  { pushed, readReach, devices, retentionTables, installation }: SqlEngine,
) {
  const filed = createCorrectionStore(context);
  const corrections = createCorrectionBook(filed, await filed.reaches());
  const datapoints = createCorrectedDatapoints(pushed, corrections);
  const forget = (deviceId: DeviceId, sensorId?: SensorId): void => {
    pushed.forget?.(deviceId, sensorId);
    corrections.forget(deviceId, sensorId);
  };
  return {
    users: createUserStore(context, forget),
    credentials: createCredentialStore(context),
    grants: createGrantStore(context, readReach),
    groups: createGroupStore(context),
    invitations: createInvitationStore(context),
    devices: createDeviceStore(context, { ...devices, forget }),
    gateways: createGatewayStore(context),
    projects: createProjectStore(context),
    socials: createSocialStore(context),
    notifications: createNotificationStore(context),
    outbox: createOutboxStore(context),
    datapoints,
    pushedDatapoints: createPushedDatapoints(pushed, corrections),
    corrections,
    retentions: createRetentionStore(context, retentionTables, pushed.oldestUnflushed),
    retaining: createRetaining({
      ...{ pushed, datapoints, book: corrections },
      take: pushed.takeOld,
      ...pushed.retained,
    }),
    installation: createInstallationStore(context, installation),
    passwordResets: createPasswordResetStore(context),
    failures: createFailureStore(context),
    callTexts: createCallTextStore(context),
    newestReceived: pushed.newestReceived,
  };
}
