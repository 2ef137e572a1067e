import type { DatabaseSync } from 'node:sqlite';
import { type Reporter, silentReporter } from '../../domain/reporter.ts';
import type { Log } from '../../lib/log.ts';
import { createDamagedRows } from '../faults.ts';
import { type DeviceRow, type DeviceRows, deviceTable, type PartRow } from '../sql/device-row.ts';
import type { LoadDevices } from '../sql/devices.ts';
import { loadAll } from '../sql/load-sessions.ts';
import { packChanges } from '../sql/session-row.ts';
import { createSqlStores } from '../sql/stores.ts';
import type { Storage } from '../storage.ts';
import { createRenewalNews } from './background-renewal.ts';
import { lastBackupOf } from './backup-mark.ts';
import { createSelection, openConnection } from './connection.ts';
import { ensureInstallationSecret } from './installation-secret.ts';
import { prepareForService } from './opening.ts';
import { retentionTables, storedDatapoints } from './own-tables.ts';
import { createReachWalk } from './reach-walk.ts';
import { asRefusal } from './session.ts';
import { sqliteLimits } from './sqlite-limits.ts';
import { type DatapointLimits, datapointLimits } from './timeseries/datapoint-limits.ts';
import { createDatapointStore } from './timeseries/datapoints.ts';
import { createWriter, sharedContext } from './writer.ts';

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
  const stores = await createSqlStores(shared, {
    pushed,
    readReach: createReachWalk(shared.reader),
    devices: {
      limits: sqliteLimits,
      load: createDeviceLoading(reader),
      datapoints: { ...storedDatapoints, outside: pushed },
    },
    retentionTables,
    installation: {
      secret: async () => ensureInstallationSecret(directory),
      lastBackupAt: () => lastBackupOf(directory),
    },
  });
  const open = opened.move();
  return {
    ...stores,
    // Read once, at start, and from then on written only.
    mqttSessions: {
      load: () => loadAll(shared.reader, damaged),
      apply(changes) {
        const packed = packChanges(changes);
        return writer.callTransfer('applySessionChanges', [packed.buffer], packed.changes);
      },
    },
    ping: () => writer.call('ping'),
    threadMemory: writer.memory,
    close: () => open.disposeAsync(),
  };
}

const selectDevice = `select ${deviceTable.columns} from devices where id = ?`;
const selectSensors = `
  select sensor_id as id, details from sensors where device_id = ? order by series`;
const selectActuators = `
  select actuator_id as id, details from actuators where device_id = ? order by position`;

/**
 * Loads devices one by one, as they are taken: SQLite answers three small statements sooner than a
 * large one. All of them are as of one commit.
 */
function createDeviceLoading(reader: DatabaseSync): LoadDevices {
  const devices = createSelection<DeviceRow>(reader, selectDevice);
  const sensors = createSelection<PartRow>(reader, selectSensors);
  const actuators = createSelection<PartRow>(reader, selectActuators);
  function* load(ids: readonly string[]): Generator<DeviceRows> {
    const isOwn = !reader.isTransaction;
    try {
      if (isOwn) reader.exec('begin');
      for (const id of ids) {
        const row = devices.first(id);
        if (row) yield { row, sensors: sensors.all(id), actuators: actuators.all(id) };
      }
    } catch (error) {
      throw asRefusal(error);
    } finally {
      if (isOwn && reader.isTransaction) reader.exec('commit');
    }
  }
  return async (ids) => load(ids);
}
