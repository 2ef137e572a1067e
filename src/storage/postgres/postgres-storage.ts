import { randomBytes } from 'node:crypto';
import type { ResourceKind } from '../../domain/access/scopes.ts';
import type { MemberStore } from '../../domain/members/member-store.ts';
import { createWantedGroups } from '../../domain/members/wanted-values.ts';
import { type Reporter, silentReporter } from '../../domain/reporter.ts';
import { createDamagedRows } from '../faults.ts';
import { bucketOf, type DeviceRow, deviceTable, type PartRow } from '../sql/device-row.ts';
import type { LoadDevices } from '../sql/devices.ts';
import { type ReachedRow, type ReadReach, reachingSql } from '../sql/resources.ts';
import type { SqlReader } from '../sql/session.ts';
import { createSqlStores } from '../sql/stores.ts';
import type { Storage } from '../storage.ts';
import { createEvaluationStore } from './evaluations.ts';
import { type Link, type LinkOptions, openLink } from './link.ts';
import { createMemberConnection, type MemberConnection } from './member-connection.ts';
import { beatingFromNow, createMemberStore } from './members.ts';
import { retentionTables, storedDatapoints } from './own-tables.ts';
import { isHere } from './parts.ts';
import { postgresLimits } from './postgres-limits.ts';
import { createReader, type Reader } from './reader.ts';
import { createSessionStore } from './sessions.ts';
import { sharedContext } from './store-context.ts';
import { createDatapointStore } from './timeseries/datapoints.ts';
import type { HotLimits } from './timeseries/hot-limits.ts';
import { createWriter, type Writer } from './writer.ts';

interface PostgresOptions extends LinkOptions {
  /** With the password; it is never logged. */
  readonly url: string;
  readonly reporter?: Pick<Reporter, 'rowSetAside'>;
  readonly datapointLimits?: HotLimits;
}

/** The store by which processes on one database know of each other; one alone has none. */
function createMembers(given: {
  readonly link: Link;
  readonly writer: Writer;
  readonly connection: MemberConnection;
  readonly reader: Reader;
  readonly opened: AsyncDisposableStack;
}): MemberStore | undefined {
  const { link, writer, connection, reader, opened } = given;
  if (!link.isShared) return undefined;
  const figures = () => ({
    lockWaitSeconds: link.lockWaitSeconds(),
    lossySettings: link.lossySettings(),
    // The one that writes, and that of members.
    connections: reader.connections() + 2,
  });
  const parts = { connection, writer, figures };
  const store = createMemberStore({ ...parts, own: link.member, before: link.reached });
  const [members, end] = beatingFromNow(store);
  opened.defer(end);
  return members;
}

/**
 * Opens the database for a service, with tables of the newest version: one at a time, or several
 * together. Throws UnusableStorageError when a person has to mend something.
 */
export async function openPostgres(options: PostgresOptions): Promise<Storage> {
  const { url, log, datapointLimits } = options;
  // Undone in reverse order, whether opening fails half-way or the service ends.
  await using opened = new AsyncDisposableStack();
  const wanted = createWantedGroups();
  const link = await openLink({ ...options, ...(options.serving === 'shared' && { wanted }) });
  const connection = createMemberConnection(url, log);
  opened.defer(() => connection.close());
  const writer = createWriter(link, log, connection.notify);
  opened.defer(() => writer.close());
  const reader = createReader(url, log);
  opened.defer(() => reader.close());
  const damaged = createDamagedRows({ log, reporter: options.reporter ?? silentReporter });
  const members = createMembers({ link, writer, connection, reader, opened });
  const context = { reader, writer, damaged };
  const claiming = { ...context, member: link.member };
  const shared = sharedContext(claiming);
  const pushed = createDatapointStore({
    ...{ ...context, log, own: members?.own },
    ...(datapointLimits !== undefined && { limits: datapointLimits }),
  });
  opened.defer(() => pushed.close());
  await pushed.start();
  const stores = await createSqlStores(shared, {
    pushed,
    readReach: createReachReading(reader),
    devices: {
      limits: postgresLimits,
      load: createDeviceLoading(reader, link.parts.length > 0),
      datapoints: storedDatapoints,
    },
    retentionTables,
    installation: {
      secret: () => ensureInstallationSecret(writer),
      // Backups are the database's own affair.
      lastBackupAt: async () => undefined,
    },
  });
  const open = opened.move();
  return {
    ...stores,
    mqttSessions: createSessionStore(
      context,
      members && { own: members.own, connection, groups: wanted },
    ),
    ...(members !== undefined && { members, looks: createEvaluationStore(claiming) }),
    // A commit of its own number: proves that a change can be made durable.
    ping: () => writer.call(async () => undefined, {}),
    close: () => open.disposeAsync(),
  };
}

// A single statement, so that all of a device belongs to one commit. The kind distinguishes parts.
const selectDevices = (here: string): string => `
  select 0 as kind, id as device_id, ${deviceTable.columns}, 0 as place
  from devices where id = any($1::text[])
  union all
  select 1, device_id, sensor_id, null, null, null, null, details, series
  from sensors where ${here} device_id = any($1::text[])
  union all
  select 2, device_id, actuator_id, null, null, null, null, details, position
  from actuators where device_id = any($1::text[])
  order by kind, place`;

type Row = (DeviceRow | PartRow) & { readonly kind: 0 | 1 | 2; readonly device_id: string };

/** Loads devices in one statement: each costs a round trip to the database. */
export const createDeviceLoading =
  (reader: SqlReader, hasParts: boolean): LoadDevices =>
  async (ids) => {
    const buckets = hasParts ? [ids.map(bucketOf)] : [];
    const rows = await reader.all<Row>(selectDevices(isHere(hasParts, 2)), ids, ...buckets);
    const byDevice = Map.groupBy(rows, ({ device_id }) => device_id);
    return ids.flatMap((id) => {
      const own = Map.groupBy(byDevice.get(id) ?? [], ({ kind }) => kind);
      // Distinguished by their kinds.
      const [row] = (own.get(0) ?? []) as readonly DeviceRow[];
      return row ? { row, sensors: own.get(1) ?? [], actuators: own.get(2) ?? [] } : [];
    });
  };

const selectReaching: Readonly<Record<ResourceKind, string>> = {
  device: reachingSql('device', '$1'),
  gateway: reachingSql('gateway', '$1'),
  project: reachingSql('project', '$1'),
};

/** Reads what reaches a user in one statement: the database does the work. */
const createReachReading =
  (reader: SqlReader): ReadReach =>
  (kind, username) =>
    reader.all<ReachedRow>(selectReaching[kind], username);

const makeSecret = `
  insert into secrets (name, value) values ('installation', $1) on conflict do nothing`;
const selectSecret = `select value from secrets where name = 'installation'`;
const secretPattern = /^[0-9a-f]{64}$/;

/** The installation's own secret, made when it is asked for the first time. */
export const ensureInstallationSecret = (writer: Writer): Promise<string> =>
  writer.call(async (tx) => {
    await tx.run(makeSecret, randomBytes(32).toString('hex'));
    const secret = (await tx.first<{ value: string }>(selectSecret))?.value ?? '';
    if (secretPattern.test(secret)) return secret;
    throw new Error(
      'the secret of the installation in the table secrets is damaged: restore a backup, or ' +
        'delete its row to make a new one',
    );
  });
