import {
  createCorrectedDatapoints,
  createPushedDatapoints,
} from '../../domain/datapoints/corrections/corrected-datapoints.ts';
import { createCorrectionBook } from '../../domain/datapoints/corrections/correction-book.ts';
import { createRetaining } from '../../domain/datapoints/retention/retaining.ts';
import type { DeviceId, SensorId } from '../../domain/ids.ts';
import { type Reporter, silentReporter } from '../../domain/reporter.ts';
import type { Log } from '../../lib/log.ts';
import { createDamagedRows } from '../damaged-rows.ts';
import { createCorrectionStore } from '../sql/corrections.ts';
import { createCredentialStore } from '../sql/credentials.ts';
import { createDeviceStore } from '../sql/devices.ts';
import { createGatewayStore } from '../sql/gateways.ts';
import { createGrantStore } from '../sql/grants.ts';
import { createGroupStore } from '../sql/groups.ts';
import { createInstallationStore } from '../sql/installation.ts';
import { createInvitationStore } from '../sql/invitations.ts';
import { createNotificationStore } from '../sql/notifications.ts';
import { createOutboxStore } from '../sql/outbox.ts';
import { createProjectStore } from '../sql/projects.ts';
import { createRetentionStore } from '../sql/retentions.ts';
import {
  createCallTextStore,
  createFailureStore,
  createPasswordResetStore,
} from '../sql/short-lived.ts';
import { createSocialStore } from '../sql/socials.ts';
import { createUserStore } from '../sql/users.ts';
import type { Storage } from '../storage.ts';
import { lastBackupOf } from './backup-mark.ts';
import { openConnection } from './connection.ts';
import { retentionTables, storedDatapoints } from './datapoint-tables.ts';
import { ensureInstallationSecret } from './installation-secret.ts';
import { createDeviceLoading } from './loading-devices.ts';
import { prepareForService } from './opening.ts';
import { createReachWalk } from './reach-walk.ts';
import { createRenewalNews } from './renewal-news.ts';
import { createSessionStore } from './sessions.ts';
import { sqliteLimits } from './sqlite-limits.ts';
import { sharedContext } from './store-context.ts';
import { type DatapointLimits, datapointLimits } from './timeseries/datapoint-limits.ts';
import { createDatapointStore } from './timeseries/datapoints.ts';
import { createWriter } from './writer.ts';

export interface SqliteOptions {
  readonly directory: string;
  readonly log: Log;
  readonly reporter?: Pick<Reporter, 'rowSetAside' | 'chunksRenewed'>;
  readonly datapointLimits?: DatapointLimits;
  /** The database may not grow beyond this many pages of 4 KiB; absent: no limit. */
  readonly pagesMax?: number;
}

/** Opens the data directory for a service: one at a time, in the newest version. */
export async function openSqlite(options: SqliteOptions): Promise<Storage> {
  const { directory, log, pagesMax, reporter = silentReporter } = options;
  const limits = options.datapointLimits ?? datapointLimits;
  const tellRenewal = createRenewalNews({ log, reporter });
  const { path, lock } = prepareForService(directory);
  // Undone in reverse order, whether opening fails half-way or the service ends, and every one of
  // them, whether or not another fails.
  await using opened = new AsyncDisposableStack();
  opened.defer(() => lock.release());
  const writer = await createWriter({
    path,
    log,
    renewal: limits,
    onNews: ({ renewal }) => tellRenewal(renewal),
    ...(pagesMax !== undefined && { pagesMax }),
  });
  opened.defer(() => writer.close());
  const reader = openConnection(path, { role: 'read' });
  opened.defer(() => reader.close());
  const damaged = createDamagedRows({ log, reporter });
  const context = { reader, writer, damaged };
  const shared = sharedContext(context);
  const pushed = createDatapointStore({ ...context, log, limits });
  opened.defer(() => pushed.close());
  await pushed.start();
  const filed = createCorrectionStore(shared);
  const corrections = createCorrectionBook(filed, await filed.reaches());
  const datapoints = createCorrectedDatapoints(pushed, corrections);
  const forget = (deviceId: DeviceId, sensorId?: SensorId): void => {
    pushed.forget(deviceId, sensorId);
    corrections.forget(deviceId, sensorId);
  };
  const open = opened.move();
  return {
    users: createUserStore(shared, forget),
    credentials: createCredentialStore(shared),
    grants: createGrantStore(shared, createReachWalk(shared.reader)),
    groups: createGroupStore(shared),
    invitations: createInvitationStore(shared),
    devices: createDeviceStore(shared, {
      ...{ limits: sqliteLimits, forget },
      load: createDeviceLoading(shared.reader),
      datapoints: { ...storedDatapoints, outside: pushed },
    }),
    gateways: createGatewayStore(shared),
    projects: createProjectStore(shared),
    socials: createSocialStore(shared),
    notifications: createNotificationStore(shared),
    outbox: createOutboxStore(shared),
    datapoints,
    pushedDatapoints: createPushedDatapoints(pushed, corrections),
    corrections,
    retentions: createRetentionStore(shared, retentionTables, pushed.oldestUnflushed),
    retaining: createRetaining({
      ...{ pushed, datapoints, book: corrections },
      take: pushed.takeOld,
      ...pushed.retained,
    }),
    mqttSessions: createSessionStore(context, shared.reader),
    installation: createInstallationStore(shared, {
      secret: async () => ensureInstallationSecret(directory),
      lastBackupAt: () => lastBackupOf(directory),
    }),
    passwordResets: createPasswordResetStore(shared),
    failures: createFailureStore(shared),
    callTexts: createCallTextStore(shared),
    newestReceived: pushed.newestReceived,
    ping: () => writer.call('ping'),
    threadMemory: writer.memory,
    close: () => open.disposeAsync(),
  };
}
